(* layoutdsl-check: confirm certificates of layoutdsl without any solver.

   Reader (trusted) reads the file, Oracle (not trusted) finds refutations, and
   Kernel.confirm, extracted from Coq, decides. *)

open Kernel
open Reader

let usage = {|layoutdsl-check: confirm certificates of layoutdsl, by a checker that is proved in Coq.

usage: layoutdsl-check FILE.json...        confirm certificates; `-` reads the standard input
       layoutdsl-check --by-claim FILE     one line for each claim, for programs
       layoutdsl-check --lemmas FILE       compare lemmas.json with Lemmas.v
       layoutdsl-check --theorems FILE...  print every theorem as it was read
       layoutdsl-check --coq FILE CLAIM    write a Coq file that states and proves one claim
       layoutdsl-check --smt FILE...       answer questions in SMT-LIB: unsat or unknown

options, before the others:
       --quiet          print only what is not confirmed
       --seconds N      search at most N seconds for each answer (60)
       --slow N         print questions whose search takes more than N seconds to stderr

Exit code: 0 if everything is confirmed, 1 if something is not, 2 for wrong usage.
|}

(* Questions that were answered are remembered by their value: many occur several times. *)

let questions = ref 0
let unanswered = ref 0
let searching = ref 0.0
let slow = ref infinity
(* The usual hash looks at ten words only, the same in most questions of a proof. *)
module Questions = Hashtbl.Make (struct
  type t = question
  let equal = ( = )
  let hash = Hashtbl.hash_param 500 500
end)
let known : refutation Questions.t = Questions.create 997

let oracle q =
  incr questions;
  match Questions.find_opt known q with
  | Some found -> found
  | None ->
    let started = Sys.time () in
    let found =
      (* An empty combination refutes nothing, so the kernel rejects it. *)
      try Oracle.find q with Oracle.Gave_up -> incr unanswered; Farkas [] in
    let took = Sys.time () -. started in
    searching := !searching +. took;
    if took > !slow then Printf.eprintf "%.2f s\n   %s\n%!" took (Show.question q);
    Questions.replace known q found;
    found

let theorems = ref 0
let without_theorems = ref 0

type verdict = Confirmed | Empty | Unanswered of string | Rejected of string

(* Which theorem was not confirmed, and why. This is for people: [confirm] alone decides. *)
let reason items =
  let rec first kb = function
    | [] -> Rejected "the checker rejects it"
    | (name, i) :: rest ->
      match check kb i.item_theorem i.item_facts i.item_proof with
      | None -> Rejected (Printf.sprintf "theorem %s: a step of its proof does not follow" name)
      | Some qs ->
        let missing = List.filter (fun q -> not (check_refutation q (oracle q))) qs in
        if missing = [] then first (M.add i.item_name i.item_theorem kb) rest
        else
          Unanswered
            (Printf.sprintf "theorem %s: no answer was found to %d of its %d questions" name
               (List.length missing) (List.length qs)) in
  first library items

let verdict claim =
  match
    let _, items = claim_items claim in
    theorems := !theorems + List.length items;
    if items = [] then (incr without_theorems; Empty)
    else if confirm oracle library (List.map snd items) then Confirmed
    else reason items
  with
  | found -> found
  | exception Bad why -> Rejected why
  | exception Stack_overflow -> Rejected "it is nested too deeply"

(* One line a claim, in order: confirmed, empty, unanswered or rejected; a tab; the reason. *)
let by_claim file =
  let line claim =
    match verdict claim with
    | Confirmed -> "confirmed\t"
    | Empty -> "empty\t"
    | Unanswered why -> "unanswered\t" ^ why
    | Rejected why -> "rejected\t" ^ String.map (function '\n' | '\t' -> ' ' | c -> c) why in
  (* Each line is flushed, because the caller limits the time between lines. *)
  List.iter (fun claim -> print_endline (line claim)) (claims (read_file file));
  Printf.printf "end\t%d questions\n" !questions

let confirm_file quiet file =
  let bad_claim claim =
    match verdict claim with
    | Confirmed | Empty -> None
    | Unanswered why | Rejected why ->
      Some (Printf.sprintf "%s: %s" (string_of (get "claim" claim)) why) in
  let problems, count =
    try
      let found = claims (read_file file) in
      (List.filter_map bad_claim found, List.length found)
    with
    | Bad why -> ([ why ], 0)
    | Sys_error why -> ([ why ], 0)
    | Stack_overflow -> ([ "it is nested too deeply" ], 0) in
  if problems = [] then (if not quiet then Printf.printf "CONFIRMED %s\n%!" file)
  else Printf.printf "REJECTED %s\n  %s\n%!" file (String.concat "\n  " problems);
  (problems = [], count)

let confirm_files quiet files =
  let results = List.map (confirm_file quiet) files in
  let failed = List.length (List.filter (fun (good, _) -> not good) results) in
  let count = List.fold_left (fun sum (_, n) -> sum + n) 0 results in
  let c = Oracle.counts in
  Printf.printf "%d files: %d confirmed, %d not\n" (List.length files)
    (List.length files - failed) failed;
  Printf.printf "%d claims (%d without theorems), %d theorems, %d questions, %d unanswered\n"
    count !without_theorems !theorems !questions !unanswered;
  Printf.printf "%d splits, %d branches, %d cuts, %d congruences, %d divisions; %.1f s, %.1f s of it search\n"
    c.Oracle.splits c.Oracle.branches c.Oracle.cuts c.Oracle.congruences c.Oracle.divisions
    (Sys.time ()) !searching;
  failed = 0

(* The statements of the lemmas have to be those that Lemmas.v proves, because proofs use them.
   Their proofs in the file are followed too, except the two that ask a solver for products. *)
let lemma_file file =
  let proofs = list_of (get "proofs" (json (read_file file))) in
  if List.length proofs <> List.length lemmas then bad "Lemmas.v has another number of lemmas";
  let tables = new_tables () and kb = ref M.empty and followed = ref 0 in
  List.iteri (fun i proof ->
    let name, th, facts = theorem_of_json tables proof in
    if name <> List.nth lemma_names i || th <> List.nth lemmas i then
      bad "lemma %s is not the lemma of Lemmas.v" name;
    let steps = List.map string_of (list_of (get "proof" proof)) in
    if steps <> [ "(native)" ] then begin
      match check !kb th facts (List.map (fun s -> step tables (tree s)) steps) with
      | Some qs when List.for_all (fun q -> check_refutation q (oracle q)) qs -> incr followed
      | _ -> bad "the proof of lemma %s does not check" name
    end;
    kb := M.add (number tables.theorems name) th !kb) proofs;
  Printf.printf "CONFIRMED %s: %d lemmas are those of Lemmas.v, %d proofs checked\n" file
    (List.length proofs) !followed

let coq_file file wanted =
  let is_wanted claim = string_of (get "claim" claim) = wanted in
  match List.find_opt is_wanted (claims (read_file file)) with
  | None -> bad "%s has no claim `%s`" file wanted
  | Some claim ->
    let _, items = claim_items claim in
    if items = [] then bad "the claim `%s` has no theorems" wanted;
    let identifier = String.map (function '.' | '~' -> '_' | c -> c) in
    let kb = ref library in
    (* The claim stands in a comment, so it must not close it. *)
    Emit.head (String.concat "" (String.split_on_char '*' wanted));
    List.iter (fun (name, i) ->
      match check !kb i.item_theorem i.item_facts i.item_proof with
      | Some qs ->
        Emit.item (identifier name) i (List.map oracle qs);
        kb := M.add i.item_name i.item_theorem !kb
      | None -> bad "theorem %s: a step of its proof does not follow" name) items;
    Emit.tail (List.map (fun (name, _) -> identifier name) items);
    print_string (Buffer.contents Emit.out)

(* Print what was read, for comparison with another reader. *)
let print_theorems file =
  let print claim =
    let tables, items = claim_items claim in
    let names = Hashtbl.create 97 in
    Hashtbl.iter (fun w n -> Hashtbl.replace names n w) tables.variables;
    (Show.name := fun x -> Hashtbl.find names (Big.to_int (Oracle.big_of_pos x)));
    let all show l = "(" ^ String.concat " " (List.map show l) ^ ")" in
    let variable x = Show.term (Var x) in
    let definition (x, t) = Printf.sprintf "(%s %s)" (variable x) (Show.term t) in
    List.iter (fun (name, i) ->
      let th = i.item_theorem in
      Printf.printf "(theorem %s %s %s %s %s)\n" name (all variable th.vars)
        (all Show.formula th.hyps) (all Show.formula th.goals) (all definition th.defs)) items in
  List.iter print (claims (read_file file))

let answer_script file =
  let answer = function
    | Some q when check_refutation q (oracle q) -> print_endline "unsat"
    | _ -> print_endline "unknown" in
  Smt.run answer (read_file file)

let rec run quiet = function
  | "--quiet" :: rest -> run true rest
  | "--seconds" :: n :: rest when float_of_string_opt n <> None ->
    Oracle.seconds := float_of_string n;
    run quiet rest
  | "--slow" :: n :: rest when float_of_string_opt n <> None ->
    slow := float_of_string n;
    run quiet rest
  | [ "--by-claim"; file ] -> by_claim file; 0
  | [ "--lemmas"; file ] -> lemma_file file; 0
  | "--theorems" :: files -> List.iter print_theorems files; 0
  | [ "--coq"; file; claim ] -> coq_file file claim; 0
  | "--smt" :: files -> List.iter answer_script files; 0
  | [ "--help" ] -> print_string usage; 0
  | first :: _ as files when first = "-" || first.[0] <> '-' ->
    if confirm_files quiet files then 0 else 1
  | _ -> prerr_string usage; 2

let () =
  exit
    (match run false (List.tl (Array.to_list Sys.argv)) with
     | code -> code
     | exception (Bad why | Sys_error why) -> Printf.printf "REJECTED %s\n" why; 1)
