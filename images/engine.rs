//! Repairs of the JavaScript engine, where it silently differs from the language.
//!
//! They are applied to the copy of the engine's C that its crate compiles, by the compiler's wrapper (`node`). Each
//! names the text that it replaces. A text that does not occur exactly once fails the build, so that a new version of
//! the engine is reviewed before it is repaired. `tests/cases/node/repairs.toml` has a case for each, with the answer
//! of Node.

use std::fs;
use std::path::Path;

use super::Result;

/// The file that is repaired.
pub(crate) const FILE: &str = "quickjs.c";

/// A text of the engine and its replacement.
struct Repair {
    /// The defect.
    what: &'static str,
    old: &'static str,
    new: &'static str,
}

/// Writes a repaired copy of the engine's C.
pub(crate) fn repair(from: &Path, to: &Path) -> Result<()> {
    let mut text = fs::read_to_string(from)?;
    for Repair { what, old, new } in REPAIRS {
        let there = text.matches(old).count();
        if there != 1 {
            return Err(format!(
                "the engine is not the one that repairs are for ({what}): found {there} times:\n{old}"
            )
            .into());
        }
        text = text.replace(old, new);
    }
    Ok(fs::write(to, text)?)
}

/// A string is the only primitive with enumerable properties of its own.
const SPREAD: &str = "{ ...'text' } copies nothing";
/// Node's message. The language asks for none, but programs print it.
const REJECTED: &str = "the error of Promise.any has no message";
/// With an expression among the parameters, the parameters are variables of a scope of their own, which closures in the
/// expressions capture, and the function's body has copies. By the language, only names that the body declares again by
/// `var` or `function` are copied. So:
///
/// - a name that is declared again is marked;
/// - in the body, an unmarked name means the parameter's variable if a closure has captured it. Closures among the
///   parameters are compiled before those in the body, so all of the body agrees. Other names are used as copies, which
///   need no check for being initialised;
/// - the parameters' scope is left together with the function: leaving it earlier would detach the closures' variables.
///
/// A function that itself calls `eval` has copies of all parameters as before: the scope of `eval` is laid out at run
/// time, without the marks.
const PARAMETERS: &str = "a closure in a parameter's default does not see assignments of the body";

const REPAIRS: &[Repair] = &[
    Repair {
        what: SPREAD,
        old: "    if (JS_VALUE_GET_TAG(source) != JS_TAG_OBJECT)
        return 0;

    if (JS_VALUE_GET_TAG(excluded) == JS_TAG_OBJECT)
",
        new: "    if (JS_IsString(source)) {
        val = JS_ToObject(ctx, source);
        if (JS_IsException(val))
            return -1;
        ret = JS_CopyDataProperties(ctx, target, val, excluded, setprop);
        JS_FreeValue(ctx, val);
        return ret;
    }
    if (JS_VALUE_GET_TAG(source) != JS_TAG_OBJECT)
        return 0;

    if (JS_VALUE_GET_TAG(excluded) == JS_TAG_OBJECT)
",
    },
    Repair {
        what: REJECTED,
        old: "    JS_DefinePropertyValueConst(ctx, obj, JS_ATOM_errors, errors,
                               JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    return obj;
",
        new: "    JS_DefinePropertyValueConst(ctx, obj, JS_ATOM_errors, errors,
                               JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    JS_DefinePropertyValue(ctx, obj, JS_ATOM_message,
                           JS_NewString(ctx, \"All promises were rejected\"),
                           JS_PROP_WRITABLE | JS_PROP_CONFIGURABLE);
    return obj;
",
    },
    Repair {
        what: PARAMETERS,
        old: "    uint8_t var_kind : 4; /* see JSVarKindEnum */
    /* if is_captured = true, provides the index of the corresponding
       JSVarRef on stack */
",
        new: "    uint8_t var_kind : 4; /* see JSVarKindEnum */
    /* only used during compilation: a parameter that the body declares again */
    uint8_t is_redeclared;
    /* if is_captured = true, provides the index of the corresponding
       JSVarRef on stack */
",
    },
    Repair {
        what: PARAMETERS,
        old: "            idx = find_var(ctx, fd, name);
            if (idx >= 0)
                break;
            idx = add_var(ctx, fd, name);
",
        new: "            idx = find_var(ctx, fd, name);
            if (idx >= 0) {
                if (idx & ARGUMENT_VAR_OFFSET)
                    fd->args[idx - ARGUMENT_VAR_OFFSET].is_redeclared = 1;
                else
                    fd->vars[idx].is_redeclared = 1;
                break;
            }
            idx = add_var(ctx, fd, name);
",
    },
    Repair {
        what: PARAMETERS,
        old: "/* return true if scope == parent_scope or if scope is a child of
   parent_scope */
",
        new: "/* the variable that the body of a function means by one of its own: the
   parameter itself, if a closure among the parameters has captured it */
static int body_var(JSContext *ctx, JSFunctionDef *fd, int idx)
{
    JSVarDef *vd;
    int arg_idx;

    if (idx < 0 || !fd->has_parameter_expressions || fd->has_eval_call)
        return idx;
    vd = (idx & ARGUMENT_VAR_OFFSET) ? &fd->args[idx - ARGUMENT_VAR_OFFSET] : &fd->vars[idx];
    if (vd->scope_level != 0 || vd->is_redeclared)
        return idx;
    arg_idx = find_var_in_scope(ctx, fd, vd->var_name, ARG_SCOPE_INDEX);
    return arg_idx >= 0 && fd->vars[arg_idx].is_captured ? arg_idx : idx;
}

/* return true if scope == parent_scope or if scope is a child of
   parent_scope */
",
    },
    Repair {
        what: PARAMETERS,
        old: "            var_idx = idx;
            break;
        } else
        if (vd->var_name == JS_ATOM__with_",
        new: "            var_idx = body_var(ctx, s, idx);
            break;
        } else
        if (vd->var_name == JS_ATOM__with_",
    },
    Repair {
        what: PARAMETERS,
        old: "            var_idx = find_var(ctx, s, var_name);\n",
        new: "            var_idx = body_var(ctx, s, find_var(ctx, s, var_name));\n",
    },
    Repair {
        what: PARAMETERS,
        old: "                var_idx = idx;
                break;
            } else if (vd->var_name == JS_ATOM__with_",
        new: "                var_idx = body_var(ctx, fd, idx);
                break;
            } else if (vd->var_name == JS_ATOM__with_",
    },
    Repair {
        what: PARAMETERS,
        old: "            var_idx = find_var(ctx, fd, var_name);\n",
        new: "            var_idx = body_var(ctx, fd, find_var(ctx, fd, var_name));\n",
    },
    Repair {
        what: PARAMETERS,
        old: "            vd = &fd->vars[scope_idx];
            capture_var(fd, vd);
            get_closure_var(ctx, s, fd, JS_CLOSURE_LOCAL, scope_idx,
                            vd->var_name, vd->is_const, vd->is_lexical, vd->var_kind);
            scope_idx = vd->scope_next;
",
        new: "            i = body_var(ctx, fd, scope_idx);
            vd = &fd->vars[i];
            capture_var(fd, vd);
            get_closure_var(ctx, s, fd, JS_CLOSURE_LOCAL, i,
                            vd->var_name, vd->is_const, vd->is_lexical, vd->var_kind);
            scope_idx = fd->vars[scope_idx].scope_next;
",
    },
    Repair {
        what: PARAMETERS,
        old: "                vd = &fd->args[i];
                if (vd->var_name != JS_ATOM_NULL) {
                    capture_var(fd, vd);
                    get_closure_var(ctx, s, fd,
                                    JS_CLOSURE_ARG, i, vd->var_name, false,
",
        new: "                int body_idx = body_var(ctx, fd, i | ARGUMENT_VAR_OFFSET);
                vd = &fd->args[i];
                if (!(body_idx & ARGUMENT_VAR_OFFSET)) {
                    vd = &fd->vars[body_idx];
                    get_closure_var(ctx, s, fd, JS_CLOSURE_LOCAL, body_idx,
                                    vd->var_name, vd->is_const, vd->is_lexical, vd->var_kind);
                } else
                if (vd->var_name != JS_ATOM_NULL) {
                    capture_var(fd, vd);
                    get_closure_var(ctx, s, fd,
                                    JS_CLOSURE_ARG, i, vd->var_name, false,
",
    },
    Repair {
        what: PARAMETERS,
        old: "        /* the argument scope has no parent, hence we don't use pop_scope(s) */
        emit_op(s, OP_leave_scope);
        emit_u16(s, fd->scope_level);

",
        new: "",
    },
];
