(* Print terms, formulas and questions as S-expressions. *)

open Kernel

let name = ref (fun x -> "v" ^ Oracle.Big.to_string (Oracle.big_of_pos x))
let rec term = function
  | Num z -> Oracle.Big.to_string (Oracle.to_big z)
  | Var x -> !name x
  | Op (o, a, b) ->
    let o = match o with OAdd -> "+" | OSub -> "-" | OMul -> "*" | ODiv -> "div" | OMod -> "mod" in
    Printf.sprintf "(%s %s %s)" o (term a) (term b)
let rec formula = function
  | Rel (r, a, b) ->
    let r = match r with REq -> "=" | RLe -> "<=" | RLt -> "<" in
    Printf.sprintf "(%s %s %s)" r (term a) (term b)
  | And (f, g) -> Printf.sprintf "(and %s %s)" (formula f) (formula g)
  | Or (f, g) -> Printf.sprintf "(or %s %s)" (formula f) (formula g)
  | Imp (f, g) -> Printf.sprintf "(=> %s %s)" (formula f) (formula g)
  | Not f -> Printf.sprintf "(not %s)" (formula f)
let question (premises, goal) =
  String.concat "\n   " (List.map formula premises) ^ "\n   |- " ^ formula goal

(* A layout as it was read, for comparison with another reader. *)
let rec expr = function
  | Name x -> !name x
  | Int z -> Oracle.Big.to_string (Oracle.to_big z)
  | Calc (OAdd, a, b) -> two "+" a b
  | Calc (OSub, a, b) -> two "-" a b
  | Calc (OMul, a, b) -> two "*" a b
  | Calc (ODiv, a, b) -> two "div" a b
  | Calc (OMod, a, b) -> two "mod" a b
  | Ceil (a, b) -> two "ceil" a b
  | Xor (a, b) -> two "xor" a b
  | Mask (a, m) -> two "and" a (Int m)
  | Pair (a, b) -> two "pair" a b
  | Sized (a, b) -> two "sized" a b
and two word a b = Printf.sprintf "(%s %s %s)" word (expr a) (expr b)
let condition (((r, negated), a), b) =
  let word = match r with REq -> "=" | RLe -> "<=" | RLt -> "<" in
  if negated then Printf.sprintf "(not %s)" (two word a b) else two word a b
let layout title (l : layout) =
  let list show items = "(" ^ String.concat " " (List.map show items) ^ ")" in
  Printf.sprintf "(layout %s %s %s %s %s %s %s)" title
    (list (fun (x, t) -> Printf.sprintf "(%s %s)" (!name x) (term t)) l.axes)
    (list !name l.symbols) (list condition l.where_) (expr l.start) (expr l.coordinates)
    (term (extent l l.coordinates))
