//! Expressions, from the operator that binds least to the one that binds most.

use super::super::code::{Argument, LAST, Op, SCALE, Variable};
use super::super::lexer::Token;
use super::{CompileError, DEEPEST, Parsed, Parser, Shape, is_keyword};

impl Parser<'_> {
    pub(super) fn bracketed(&mut self) -> Parsed<()> {
        self.expect("(")?;
        self.expression()?;
        self.expect(")")
    }

    pub(super) fn expression(&mut self) -> Parsed<Shape> {
        if self.depth >= DEEPEST {
            return Err(CompileError::Deep);
        }
        self.depth += 1;
        let result = self.either();
        self.depth -= 1;
        result
    }

    fn either(&mut self) -> Parsed<Shape> {
        let mut shape = self.both()?;
        while self.is_sign("||") {
            self.advance();
            let next = self.jump(Op::JumpZero(0));
            self.code.push(Op::Constant((*b"1").into()));
            let end = self.jump(Op::Jump(0));
            self.land(next);
            self.both()?;
            self.code.push(Op::Truth);
            self.land(end);
            shape = Shape::Value;
        }
        Ok(shape)
    }

    fn both(&mut self) -> Parsed<Shape> {
        let mut shape = self.negation()?;
        while self.is_sign("&&") {
            self.advance();
            let no = self.jump(Op::JumpZero(0));
            self.negation()?;
            self.code.push(Op::Truth);
            let end = self.jump(Op::Jump(0));
            self.land(no);
            self.code.push(Op::Constant((*b"0").into()));
            self.land(end);
            shape = Shape::Value;
        }
        Ok(shape)
    }

    fn negation(&mut self) -> Parsed<Shape> {
        let mut count = 0;
        while self.is_sign("!") {
            self.advance();
            count += 1;
        }
        let shape = self.comparison()?;
        for _ in 0..count {
            self.code.push(Op::Not);
        }
        Ok(if count > 0 { Shape::Value } else { shape })
    }

    fn comparison(&mut self) -> Parsed<Shape> {
        let mut shape = self.sum()?;
        while let Token::Sign(sign @ ("==" | "!=" | "<" | "<=" | ">" | ">=")) = *self.peek() {
            self.advance();
            self.sum()?;
            self.code.push(Op::Compare(sign));
            shape = Shape::Value;
        }
        Ok(shape)
    }

    fn sum(&mut self) -> Parsed<Shape> {
        let mut shape = self.product()?;
        while let Token::Sign(sign @ ("+" | "-")) = *self.peek() {
            self.advance();
            self.product()?;
            self.code.push(if sign == "+" { Op::Add } else { Op::Subtract });
            shape = Shape::Value;
        }
        Ok(shape)
    }

    fn product(&mut self) -> Parsed<Shape> {
        let mut shape = self.power()?;
        while let Token::Sign(sign @ ("*" | "/" | "%")) = *self.peek() {
            self.advance();
            self.power()?;
            self.code.push(match sign {
                "*" => Op::Multiply,
                "/" => Op::Divide,
                _ => Op::Remainder,
            });
            shape = Shape::Value;
        }
        Ok(shape)
    }

    fn power(&mut self) -> Parsed<Shape> {
        // Powers group to the right: the operands come first, then all the power instructions.
        let mut shape = self.unary()?;
        let mut count = 0;
        while self.is_sign("^") {
            self.advance();
            self.unary()?;
            count += 1;
            shape = Shape::Value;
        }
        self.code.extend(std::iter::repeat_n(Op::Power, count));
        Ok(shape)
    }

    fn unary(&mut self) -> Parsed<Shape> {
        let mut count = 0;
        while self.is_sign("-") {
            self.advance();
            count += 1;
        }
        let shape = self.primary()?;
        self.code.extend(std::iter::repeat_n(Op::Negate, count));
        Ok(if count > 0 { Shape::Value } else { shape })
    }

    fn primary(&mut self) -> Parsed<Shape> {
        match self.peek().clone() {
            Token::Number(digits) => {
                self.advance();
                // A point alone is the last number printed.
                if digits == b"." {
                    return self.lvalue(Lvalue::Variable(LAST));
                }
                self.code.push(Op::Constant(digits.into()));
                Ok(Shape::Value)
            }
            Token::Sign("(") => {
                self.bracketed()?;
                Ok(Shape::Value)
            }
            Token::Sign("!") => {
                self.depth += 1;
                if self.depth >= DEEPEST {
                    return Err(CompileError::Deep);
                }
                let shape = self.negation();
                self.depth -= 1;
                shape
            }
            Token::Sign(sign @ ("++" | "--")) => {
                self.advance();
                let by = if sign == "++" { 1 } else { -1 };
                let op = match self.lvalue_name()? {
                    Lvalue::Variable(variable) => Op::Step(variable, by, false),
                    Lvalue::Element(array) => Op::StepElement(array, by, false),
                };
                self.code.push(op);
                Ok(Shape::Value)
            }
            Token::Name(name) => {
                if let "length" | "sqrt" | "scale" | "read" = name.as_str() {
                    let op = match name.as_str() {
                        "length" => Op::Length,
                        "sqrt" => Op::SquareRoot,
                        "scale" => Op::ScaleOf,
                        _ => Op::Read,
                    };
                    self.advance();
                    if name == "read" {
                        self.expect("(")?;
                        self.expect(")")?;
                    } else if name == "scale" && !self.is_sign("(") {
                        return self.lvalue(Lvalue::Variable(SCALE));
                    } else {
                        self.bracketed()?;
                    }
                    self.code.push(op);
                    return Ok(Shape::Value);
                }
                if is_keyword(&name) {
                    return Err(CompileError::Syntax);
                }
                self.advance();
                if self.is_sign("(") {
                    return self.call(name);
                }
                let lvalue = self.after_name(&name)?;
                self.lvalue(lvalue)
            }
            _ => Err(CompileError::Syntax),
        }
    }

    fn call(&mut self, name: String) -> Parsed<Shape> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.is_sign(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.argument()?);
        }
        self.advance();
        self.code.push(Op::Call(name, arguments.into()));
        Ok(Shape::Value)
    }

    fn argument(&mut self) -> Parsed<Argument> {
        // `name[]` needs three tokens, which are put back if it is something else.
        if let Token::Name(name) = self.peek().clone()
            && !is_keyword(&name)
        {
            self.advance();
            if self.is_sign("[") {
                self.advance();
                if self.is_sign("]") {
                    self.advance();
                    return Ok(Argument::Array(self.names.array(&name)));
                }
                self.push_back(&[Token::Name(name), Token::Sign("[")]);
            } else {
                self.push_back(&[Token::Name(name)]);
            }
        }
        self.expression()?;
        Ok(Argument::Value)
    }

    fn lvalue_name(&mut self) -> Parsed<Lvalue> {
        let Token::Name(name) = self.peek().clone() else { return Err(CompileError::Syntax) };
        self.advance();
        self.after_name(&name)
    }

    fn after_name(&mut self, name: &str) -> Parsed<Lvalue> {
        if !self.is_sign("[") {
            return Ok(Lvalue::Variable(self.names.variable(name)));
        }
        self.advance();
        self.element(name)
    }

    fn element(&mut self, name: &str) -> Parsed<Lvalue> {
        self.expression()?;
        self.expect("]")?;
        Ok(Lvalue::Element(self.names.array(name)))
    }

    /// Compiles an assignment to a lvalue, a step of it, or its value.
    fn lvalue(&mut self, lvalue: Lvalue) -> Parsed<Shape> {
        let sign = match self.peek() {
            Token::Sign(sign) => *sign,
            _ => "",
        };
        match (sign, lvalue) {
            ("++" | "--", lvalue) => {
                self.advance();
                let by = if sign == "++" { 1 } else { -1 };
                self.code.push(match lvalue {
                    Lvalue::Variable(variable) => Op::Step(variable, by, true),
                    Lvalue::Element(array) => Op::StepElement(array, by, true),
                });
                Ok(Shape::Value)
            }
            ("=" | "+=" | "-=" | "*=" | "/=" | "%=" | "^=", lvalue) => {
                self.advance();
                let operation = match sign {
                    "+=" => Some(Op::Add),
                    "-=" => Some(Op::Subtract),
                    "*=" => Some(Op::Multiply),
                    "/=" => Some(Op::Divide),
                    "%=" => Some(Op::Remainder),
                    "^=" => Some(Op::Power),
                    _ => None,
                };
                if operation.is_some() {
                    self.code.push(match lvalue {
                        Lvalue::Variable(variable) => Op::Load(variable),
                        Lvalue::Element(array) => Op::PeekElement(array),
                    });
                }
                self.depth += 1;
                if self.depth >= DEEPEST {
                    return Err(CompileError::Deep);
                }
                self.sum()?;
                self.depth -= 1;
                self.code.extend(operation);
                self.code.push(match lvalue {
                    Lvalue::Variable(variable) => Op::Store(variable),
                    Lvalue::Element(array) => Op::StoreElement(array),
                });
                Ok(Shape::Assignment)
            }
            (_, Lvalue::Variable(variable)) => {
                self.code.push(Op::Load(variable));
                Ok(Shape::Value)
            }
            (_, Lvalue::Element(array)) => {
                self.code.push(Op::LoadElement(array));
                Ok(Shape::Value)
            }
        }
    }
}

/// Something that can be assigned to.
#[derive(Clone, Copy)]
enum Lvalue {
    Variable(Variable),
    /// The index is on the stack.
    Element(usize),
}
