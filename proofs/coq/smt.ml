(* Read a script of questions in SMT-LIB, as layoutdsl/proof/kernel/question.py writes it. *)

open Kernel
open Reader

let rec term name = function
  | Word w when is_number w -> Num (of_big (Big.of_string w))
  | Word w -> Var (name w)
  | List [ Word "-"; Word w ] when is_number w -> Num (of_big (Big.neg (Big.of_string w)))
  | List [ Word operator; a; b ] ->
    let operator =
      match operator with
      | "+" -> OAdd | "-" -> OSub
      | "*" | "mul" -> OMul | "div" | "quo" -> ODiv | "mod" | "rem." -> OMod
      | _ -> bad "`%s` is no operator of terms" operator in
    Op (operator, term name a, term name b)
  | List _ -> bad "a term has an operator and two operands"

let rec formula name = function
  | List [ Word "="; a; b ] -> Rel (REq, term name a, term name b)
  | List [ Word "<="; a; b ] -> Rel (RLe, term name a, term name b)
  | List [ Word "<"; a; b ] -> Rel (RLt, term name a, term name b)
  | List [ Word "not"; f ] -> Not (formula name f)
  | List [ Word "=>"; f; g ] -> Imp (formula name f, formula name g)
  | List (Word "and" :: parts) -> joined name (fun f g -> And (f, g)) parts
  | List (Word "or" :: parts) -> joined name (fun f g -> Or (f, g)) parts
  | _ -> bad "a formula is missing"
and joined name make = function
  | [ f ] -> formula name f
  | f :: rest -> make (formula name f) (joined name make rest)
  | [] -> bad "a conjunction or disjunction has no parts"

(* Call [answer] with each question. Every assertion but the last of a scope is a premise; the
   last one is the negation of the formula. *)
let run answer script =
  let asserted = ref [] and names = ref (table []) in
  let read line =
    match tree line with
    | List [ Word "push"; _ ] ->
      asserted := [];
      names := table []
    | List [ Word "assert"; f ] -> asserted := f :: !asserted
    | List [ Word "check-sat" ] ->
      answer
        (match !asserted with
         | List [ Word "not"; goal ] :: premises ->
           let name w = number !names w in
           Some (List.rev_map (formula name) premises, formula name goal)
         | _ -> None)
    | _ -> () in
  List.iter (fun line -> if line <> "" && line.[0] <> ';' then read line)
    (String.split_on_char '\n' script)
