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
