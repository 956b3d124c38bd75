(* Read certificates: JSON, S-expressions and names. TRUSTED: Coq proves nothing of this file.

   A mistake here can make layoutdsl-check confirm another theorem than the one in the file.
   `layoutdsl-check --theorems FILE` prints what was read; tests/inner/proof/test_coq_checker.py
   compares it with what Python reads.

   The format is that of layoutdsl/proof/evidence/manifest.py (JSON) and
   layoutdsl/proof/kernel/written.py (theorems and steps). *)

module Big = Z
open Kernel
module Z = Big

exception Bad of string

let bad fmt = Printf.ksprintf (fun message -> raise (Bad message)) fmt

(* JSON. Numbers, true, false and null are kept as text, because no theorem contains them. *)

type json = Str of string | Arr of json list | Obj of (string * json) list | Other of string

let json source =
  let length = String.length source and at = ref 0 in
  let peek () = if !at < length then source.[!at] else bad "the JSON text ends early" in
  let rec skip_blanks () =
    if !at < length then
      match source.[!at] with
      | ' ' | '\n' | '\t' | '\r' -> incr at; skip_blanks ()
      | _ -> () in
  let expect c =
    skip_blanks ();
    if peek () <> c then bad "`%c` is missing at byte %d" c !at;
    incr at in
  let string_ () =
    expect '"';
    let found = Buffer.create 80 in
    let rec more () =
      match peek () with
      | '"' -> incr at
      | '\\' ->
        incr at;
        (match peek () with
         | ('"' | '\\' | '/') as c -> Buffer.add_char found c; incr at
         | 'n' -> Buffer.add_char found '\n'; incr at
         | 't' -> Buffer.add_char found '\t'; incr at
         | 'u' when !at + 5 <= length ->
           (* Kept as written. Theorems are ASCII, and a backslash is part of no name. *)
           Buffer.add_string found (String.sub source (!at - 1) 6); at := !at + 5
         | _ -> bad "unknown escape at byte %d" !at);
        more ()
      | c -> Buffer.add_char found c; incr at; more () in
    more ();
    Buffer.contents found in
  let rec value () =
    skip_blanks ();
    match peek () with
    | '"' -> Str (string_ ())
    | '[' ->
      incr at; skip_blanks ();
      if peek () = ']' then (incr at; Arr []) else items []
    | '{' ->
      incr at; skip_blanks ();
      if peek () = '}' then (incr at; Obj []) else members []
    | _ ->
      let first = !at in
      let inside c = match c with ',' | ']' | '}' | ' ' | '\n' | '\t' | '\r' -> false | _ -> true in
      while !at < length && inside source.[!at] do incr at done;
      Other (String.sub source first (!at - first))
  and items found =
    let found = value () :: found in
    skip_blanks ();
    match peek () with
    | ',' -> incr at; items found
    | ']' -> incr at; Arr (List.rev found)
    | _ -> bad "a list is not closed at byte %d" !at
  and members found =
    skip_blanks ();
    let key = string_ () in
    expect ':';
    (* Python takes the last of two values, another reader the first: refuse both. *)
    if List.mem_assoc key found then bad "the key `%s` occurs twice" key;
    let found = (key, value ()) :: found in
    skip_blanks ();
    match peek () with
    | ',' -> incr at; members found
    | '}' -> incr at; Obj (List.rev found)
    | _ -> bad "an object is not closed at byte %d" !at in
  let found = value () in
  skip_blanks ();
  if !at < length then bad "text follows the JSON value";
  found

let get key = function
  | Obj members ->
    (match List.assoc_opt key members with Some v -> v | None -> bad "`%s` is missing" key)
  | _ -> bad "an object with `%s` is missing" key
let list_of = function Arr items -> items | _ -> bad "a JSON list is missing"
let string_of = function Str s -> s | _ -> bad "a JSON string is missing"

(* S-expressions *)

type tree = Word of string | List of tree list

let tree source =
  let length = String.length source in
  let rec items at found =
    if at >= length then (List.rev found, at)
    else
      match source.[at] with
      | ' ' | '\n' -> items (at + 1) found
      | '(' ->
        let inner, stop = items (at + 1) [] in
        if stop >= length then bad "a parenthesis is not closed";
        items (stop + 1) (List inner :: found)
      | ')' -> (List.rev found, at)
      | _ ->
        let stop = ref at in
        let inside c = match c with ' ' | '(' | ')' | '\n' -> false | _ -> true in
        while !stop < length && inside source.[!stop] do incr stop done;
        items !stop (Word (String.sub source at (!stop - at)) :: found) in
  match items 0 [] with
  | [ t ], stop when stop = length -> t
  | _ -> bad "a text is not one expression"

let word = function Word w -> w | List _ -> bad "a word is missing where a list stands"
let list = function List l -> l | Word w -> bad "a list is missing where `%s` stands" w

(* Names. Each kind of name (variables, facts, theorems) has a table that counts from 1. *)

let rec positive n =
  if n = 1 then XH else if n land 1 = 0 then XO (positive (n / 2)) else XI (positive (n / 2))

let table first =
  let t = Hashtbl.create 97 in
  List.iteri (fun i w -> Hashtbl.add t w (i + 1)) first;
  t

let number t w =
  match Hashtbl.find_opt t w with
  | Some n -> positive n
  | None ->
    let n = Hashtbl.length t + 1 in
    Hashtbl.add t w n;
    positive n

(* The order of both lists is that of Lemmas.v, which numbers lemmas and their variables. *)
let lemma_names =
  [ "PRODUCT"; "DIVISION"; "POSITIVE"; "MONOTONE"; "BOUND"; "UNIQUE"; "EUCLID"; "CONGRUENT";
    "PAIR"; "UNPAIR"; "CEILING"; "MIRROR"; "FACTOR"; "PARITY" ]
let lemma_variables = [ "a"; "b"; "A"; "B"; "k"; "q"; "r"; "x"; "E" ]

type tables = {
  variables : (string, int) Hashtbl.t;
  facts : (string, int) Hashtbl.t;
  theorems : (string, int) Hashtbl.t;
  goals : (string, int) Hashtbl.t; (* how many goals each theorem has, by name *)
  above : (string, tree) Hashtbl.t; (* definitions of the theorems so far *)
}

let new_tables () =
  let goals = Hashtbl.create 97 in
  List.iter2 (fun name th -> Hashtbl.add goals name (List.length th.Kernel.goals))
    lemma_names lemmas;
  { variables = table lemma_variables; facts = table []; theorems = table lemma_names; goals;
    above = Hashtbl.create 97 }

let is_name w =
  let letter = function 'A' .. 'Z' | 'a' .. 'z' -> true | _ -> false in
  let inner = function '0' .. '9' | '_' | '.' | '~' -> true | c -> letter c in
  w <> "" && letter w.[0] && String.for_all inner w

let is_number w =
  let digits = if w <> "" && w.[0] = '-' then String.sub w 1 (String.length w - 1) else w in
  digits <> "" && String.for_all (function '0' .. '9' -> true | _ -> false) digits

(* Z of Coq <-> Z of zarith *)
let rec pos_of_big z =
  if Z.equal z Z.one then XH
  else if Z.is_even z then XO (pos_of_big (Z.shift_right z 1))
  else XI (pos_of_big (Z.shift_right z 1))
let of_big z =
  match Z.sign z with 0 -> Z0 | 1 -> Zpos (pos_of_big z) | _ -> Zneg (pos_of_big (Z.neg z))

let variable tables w = if is_name w then number tables.variables w else bad "`%s` is no name" w

let rec term tables = function
  | Word w when is_number w -> Num (of_big (Z.of_string w))
  | Word w -> Var (variable tables w)
  | List [ Word operator; a; b ] ->
    let operator =
      match operator with
      | "+" -> OAdd | "-" -> OSub | "*" -> OMul | "div" -> ODiv | "mod" -> OMod
      | _ -> bad "`%s` is no operator of terms" operator in
    let a = term tables a in
    Op (operator, a, term tables b)
  | List _ -> bad "a term has an operator and two operands"

let rec formula tables = function
  | List [ Word "="; a; b ] -> Rel (REq, term tables a, term tables b)
  | List [ Word "<="; a; b ] -> Rel (RLe, term tables a, term tables b)
  | List [ Word "<"; a; b ] -> Rel (RLt, term tables a, term tables b)
  | List [ Word "not"; f ] -> Not (formula tables f)
  | List [ Word "=>"; f; g ] -> Imp (formula tables f, formula tables g)
  | List (Word "and" :: parts) -> joined tables (fun f g -> And (f, g)) parts
  | List (Word "or" :: parts) -> joined tables (fun f g -> Or (f, g)) parts
  | _ -> bad "a formula is missing"

(* (and f g h) is read as (and f (and g h)). *)
and joined tables make = function
  | [ f ] -> formula tables f
  | f :: rest -> make (formula tables f) (joined tables make rest)
  | [] -> bad "a conjunction or disjunction has no parts"

(* A definition that a theorem above has too may be given by its name alone. *)
let definition tables = function
  | List [ name; t ] -> (word name, t)
  | Word name ->
    (match Hashtbl.find_opt tables.above name with
     | Some t -> (name, t)
     | None -> bad "`%s` is not defined above" name)
  | _ -> bad "a definition has a name and a term"

(* A theorem: its name, the theorem, and the names of the facts that its proof starts with. *)
let theorem tables = function
  | List [ Word "theorem"; Word name; variables; hypotheses; goals; definitions ] ->
    let definitions = List.map (definition tables) (list definitions) in
    List.iter (fun (n, t) -> Hashtbl.replace tables.above n t) definitions;
    let th =
      { vars = List.map (fun w -> variable tables (word w)) (list variables);
        defs = List.map (fun (n, t) -> (variable tables n, term tables t)) definitions;
        hyps = List.map (formula tables) (list hypotheses);
        goals = List.map (formula tables) (list goals) } in
    let facts =
      List.mapi (fun i _ -> number tables.facts (Printf.sprintf "hyp.%d" i)) th.hyps
      @ List.map (fun (n, _) -> number tables.facts n) definitions in
    (name, th, facts)
  | _ -> bad "a theorem has a name, variables, hypotheses, goals and definitions"

(* Steps. This section need not be trusted: a proof that is misread is another proof, which is
   checked like any other. *)

let move tables = function
  | Word w when w <> "" && w.[0] = '-' ->
    By (number tables.facts (String.sub w 1 (String.length w - 1)), true)
  | Word w -> By (number tables.facts w, false)
  | List [ Word "ring"; t ] -> Ring (term tables t)
  | List _ -> bad "a move is the name of an equation, or `ring` with a term"

let step tables t =
  let fact name = number tables.facts name in
  let facts l = List.map (fun w -> fact (word w)) (list l) in
  let moves l = List.map (move tables) (list l) in
  match t with
  | List [ Word "define"; Word name; t ] ->
    Define (variable tables name, term tables t, fact name)
  | List [ Word "have"; Word name; f; premises ] ->
    Have (fact name, formula tables f, facts premises)
  | List [ Word "use"; Word name; Word th; values; premises ] ->
    let count =
      match Hashtbl.find_opt tables.goals th with
      | Some count -> count
      | None -> bad "there is no theorem `%s` above" th in
    let value = function
      | List [ Word x; t ] -> (variable tables x, term tables t)
      | _ -> bad "a value has a name and a term" in
    Use (List.init count (fun i -> fact (Printf.sprintf "%s.%d" name i)),
         number tables.theorems th, List.map value (list values), facts premises)
  | List [ Word "calculate"; Word name; t; l ] -> Calculate (fact name, term tables t, moves l)
  | List [ Word "rewrite"; Word name; Word source; l ] -> Rewrite (fact name, fact source, moves l)
  | List (Word w :: _) -> bad "`%s` is no step, or has other parts" w
  | _ -> bad "a step is missing"

(* Certificates *)

let theorem_of_json tables proof =
  theorem tables (tree (String.concat " " (List.map string_of (list_of (get "theorem" proof)))))

let item tables seen proof =
  let name, th, facts = theorem_of_json tables proof in
  (* A second theorem of one name would replace the first in later proofs. *)
  if Hashtbl.mem seen name then bad "the name `%s` is taken" name;
  Hashtbl.replace seen name ();
  Hashtbl.replace tables.goals name (List.length th.goals);
  let steps = List.map (fun s -> step tables (tree (string_of s))) (list_of (get "proof" proof)) in
  (name,
   { item_name = number tables.theorems name; item_theorem = th; item_facts = facts;
     item_proof = steps })

(* The theorems of a claim with their proofs, in order, and the names that were read. *)
let claim_items claim =
  let tables = new_tables () and seen = Hashtbl.create 97 in
  List.iter (fun name -> Hashtbl.replace seen name ()) lemma_names;
  (tables, List.map (item tables seen) (list_of (get "proofs" claim)))

let claims text = list_of (get "claims" (json text))

let read_file file =
  let channel = if file = "-" then stdin else open_in_bin file in
  let found = Buffer.create 65536 and piece = Bytes.create 65536 in
  let rec more () =
    let count = input channel piece 0 (Bytes.length piece) in
    if count > 0 then (Buffer.add_subbytes found piece 0 count; more ()) in
  set_binary_mode_in channel true;
  more ();
  if file <> "-" then close_in channel;
  Buffer.contents found
