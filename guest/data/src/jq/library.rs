//! Functions that are defined in jq's own language. Each is parsed when a program first calls it.
//!
//! They are written for this machine. Where versions of jq differ, the later one is followed: `limit(0; …)` gives
//! nothing, and `gsub` of an empty match ends.

/// Name, number of parameters and the rest of the definition, sorted by name and number.
const FUNCTIONS: &[(&str, usize, &str)] = &[
    ("IN", 1, "(s): any(s == .; .);"),
    ("IN", 2, "(src; s): any(src == s; .);"),
    ("INDEX", 1, "(key): INDEX(.[]; key);"),
    ("INDEX", 2, "(stream; key): reduce stream as $row ({}; .[$row | key | tostring] |= $row);"),
    ("all", 0, ": all(.[]; .);"),
    ("all", 1, "(f): all(.[]; f);"),
    ("all", 2, "(g; f): isempty(first(g | f | select(. | not)));"),
    ("any", 0, ": any(.[]; .);"),
    ("any", 1, "(f): any(.[]; f);"),
    ("any", 2, "(g; f): isempty(first(g | f | select(.))) | not;"),
    ("arrays", 0, ": select(type == \"array\");"),
    ("ascii", 0, ": [.] | implode;"),
    ("booleans", 0, ": select(type == \"boolean\");"),
    ("capture", 1, "(re): capture(re; null);"),
    (
        "capture",
        2,
        "(re; flags): match(re; flags) | [.captures | .[] | select(.name != null) | {key: .name, value: .string}] \
         | from_entries;",
    ),
    (
        "combinations",
        0,
        ": if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $rest | [$x] + $rest end;",
    ),
    ("combinations", 1, "(n): . as $set | [range(n)] | map($set) | combinations;"),
    ("date", 0, ": todate;"),
    ("dateadd", 2, "(u; n): . + n;"),
    ("datesub", 2, "(u; n): . - n;"),
    ("debug", 1, "(message): (message | debug | empty), .;"),
    ("finites", 0, ": select(isinfinite or isnan | not);"),
    ("first", 0, ": .[0];"),
    ("first", 1, "(f): label $out | (f | ., break $out);"),
    ("fromdate", 0, ": fromdateiso8601;"),
    ("fromdateiso8601", 0, ": strptime(\"%Y-%m-%dT%H:%M:%SZ\") | mktime;"),
    (
        "fromstream",
        1,
        "(f): {x: null, e: false} as $init | foreach f as $i ($init; \
         if .e then $init else . end | if $i | length == 2 \
         then setpath([\"e\"]; $i[0] | length == 0) | setpath([\"x\"] + $i[0]; $i[1]) \
         else setpath([\"e\"]; $i[0] | length == 1) end; \
         if .e then .x else empty end);",
    ),
    ("gsub", 2, "(re; s): _substitute(re; s; \"g\");"),
    ("gsub", 3, "(re; s; $flags): _substitute(re; s; $flags + \"g\");"),
    ("in", 1, "(object): . as $key | object | has($key);"),
    (
        "inputs",
        0,
        ": def again: (try input catch if . == \"No more inputs\" then empty else error end) | ., again; again;",
    ),
    ("inside", 1, "(other): . as $part | other | contains($part);"),
    ("isempty", 1, "(g): label $done | (g | false, break $done), true;"),
    ("isvalid", 1, "(f): try (f | true) catch false;"),
    ("iterables", 0, ": select(type | . == \"array\" or . == \"object\");"),
    ("last", 0, ": .[-1];"),
    ("last", 1, "(f): reduce f as $item (null; $item);"),
    ("leaf_paths", 0, ": paths(scalars);"),
    (
        "limit",
        2,
        "($n; f): if $n > 0 then label $out | foreach f as $item (0; . + 1; $item, if . >= $n then break $out \
         else empty end) elif $n == 0 then empty else f end;",
    ),
    ("match", 1, "(re): match(re; null);"),
    ("match", 2, "(re; flags): _match(re; flags; false) | .[];"),
    ("normals", 0, ": select(isnormal);"),
    ("nth", 1, "($n): .[$n];"),
    (
        "nth",
        2,
        "($n; f): if $n < 0 then error(\"nth doesn't support negative indices\") \
         else last(limit($n + 1; f)) end;",
    ),
    ("nulls", 0, ": select(. == null);"),
    ("numbers", 0, ": select(type == \"number\");"),
    ("objects", 0, ": select(type == \"object\");"),
    ("paths", 0, ": path(..) | select(length > 0);"),
    ("paths", 1, "(f): . as $top | paths | select(. as $p | $top | getpath($p) | f);"),
    ("pick", 1, "(f): . as $top | reduce path(f) as $p (null; setpath($p; $top | getpath($p)));"),
    (
        "range",
        3,
        "($from; $to; $by): if $by > 0 then $from | while(. < $to; . + $by) \
         elif $by < 0 then $from | while(. > $to; . + $by) else empty end;",
    ),
    ("recurse", 1, "(f): def again: ., (f | again); again;"),
    ("recurse", 2, "(f; cond): def again: ., (f | select(cond) | again); again;"),
    ("recurse_down", 0, ": recurse;"),
    ("repeat", 1, "(f): def again: f | (., again); again;"),
    ("scalars", 0, ": select(type | . != \"array\" and . != \"object\");"),
    ("scan", 1, "(re): scan(re; null);"),
    (
        "scan",
        2,
        "(re; $flags): match(re; \"g\" + $flags) | if .captures | length > 0 then [.captures | .[] | .string] \
         else .string end;",
    ),
    (
        "skip",
        2,
        "($n; f): if $n > 0 then foreach f as $item ($n; . - 1; if . < 0 then $item else empty end) else f end;",
    ),
    ("splits", 1, "($re): splits($re; null);"),
    ("splits", 2, "($re; flags): split($re; flags) | .[];"),
    ("strings", 0, ": select(type == \"string\");"),
    ("sub", 2, "(re; s): _substitute(re; s; null);"),
    ("sub", 3, "(re; s; $flags): _substitute(re; s; $flags);"),
    ("test", 1, "(re): test(re; null);"),
    ("test", 2, "(re; flags): _match(re; flags; true);"),
    ("todate", 0, ": todateiso8601;"),
    ("todateiso8601", 0, ": strftime(\"%Y-%m-%dT%H:%M:%SZ\");"),
    (
        "tostream",
        0,
        ": path(def again: (.[]? | again), .; again) as $p | getpath($p) \
         | reduce path(.[]?) as $q ([$p, .]; [$p + $q]);",
    ),
    (
        "truncate_stream",
        1,
        "(stream): . as $n | null | stream | . as $event | if ($event[0] | length) > $n \
         then setpath([0]; $event[0][$n:]) else empty end;",
    ),
    ("until", 2, "(cond; update): def again: if cond then . else (update | again) end; again;"),
    ("values", 0, ": select(. != null);"),
    (
        "walk",
        1,
        "(f): def again: if type == \"object\" then map_values(again) elif type == \"array\" then map(again) \
         else . end | f; again;",
    ),
    ("while", 2, "(cond; update): def again: if cond then ., (update | again) else empty end; again;"),
    (
        "_substitute",
        3,
        "(re; s; $flags): . as $text | _match(re; $flags; null) as $matches | def again($i): if $i < 0 then . \
         else ($matches[$i].fields | s) as $piece | . + [$piece] | again($i - 1) end; \
         [] | again(($matches | length) - 1) | _splice($text; $matches);",
    ),
];

/// Returns a function's name and the rest of its definition.
pub(crate) fn find(name: &str, arity: usize) -> Option<(&'static str, &'static str)> {
    FUNCTIONS.iter().find(|entry| entry.0 == name && entry.1 == arity).map(|entry| (entry.0, entry.2))
}

/// Returns the names of all functions with their numbers of parameters.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, usize)> {
    FUNCTIONS.iter().map(|entry| (entry.0, entry.1))
}
