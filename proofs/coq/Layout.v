(** Layouts, and what it means that one lays out a tensor in a buffer without collisions.

    Read this file up to "The program" to know what `layoutdsl-check` claims of a layout, as in
    "NCHW16c packs: ... its offset is a bijection ...". The rest is a program that compares the
    theorems of a certificate with a layout, and the proof that the sentence follows from them.
    Nothing has to be believed of how the theorems were written. *)

From Coq Require Import ZArith List Bool PArith Lia FMapPositive.
Require Import Syntax Poly Check Refute Lemmas Main.
Import ListNotations.
Open Scope Z_scope.

(** * Layouts

    The reader makes a [layout] of a declaration such as
    [layout NCHW16c(n, c, h, w) = [n, c/16, h, w, c%16]]. *)

(** Division rounds down, and a remainder has the sign of its divisor, as in Python. *)
Definition floor : division :=
  {| quo := Z.div; rem := Z.modulo;
     quo_ok := fun x b _ => eq_refl; rem_ok := fun x b _ => eq_refl |}.
Notation number := (eval floor).

Inductive expr :=
| Name (x : positive)           (** an index, an extent, or a parameter *)
| Int (z : Z)
| Calc (o : op) (a b : expr)    (** [a + b], [a - b], [a*b], [a/b] or [a%b] *)
| Ceil (a b : expr)             (** [ceil(a/b)] *)
| Xor (a b : expr)              (** [a ^ b] *)
| Mask (a : expr) (m : Z)       (** [a & m] *)
| Pair (a b : expr)             (** [(a, b)]; [(a, b, c)] is [Pair (Pair a b) c] *)
| Sized (a b : expr).           (** [a : b], that is [a] with the declared extent [b] *)

Record layout := {
  axes : list (positive * term);              (** each index, with the extent of its axis *)
  symbols : list positive;                    (** extents and parameters, at least 1 each *)
  where_ : list (rel * bool * expr * expr);   (** conditions; [true] negates: [!=] is not [=] *)
  start : expr;                               (** slots before the first element *)
  coordinates : expr }.                       (** [[a, b, c]] is the tuple [(a, b, c)] *)

(** A declared extent or a divisor. No indices, tuples or bits occur in it. *)
Definition ceiling (a b : term) : term := Op ODiv (Op OAdd a (Op OSub b (Num 1))) b.
Fixpoint plain (e : expr) : term :=
  match e with
  | Name x => Var x
  | Int z => Num z
  | Calc o a b => Op o (plain a) (plain b)
  | Ceil a b => ceiling (plain a) (plain b)
  | _ => Num 0
  end.

(** The extent of a coordinate is declared, or the table of the language gives it
    (grammar/README.md): [c] has the extent [C], [e/k] has [ceil(E/k)], [e%k] has [k], and a tuple
    the product of its parts. That each value is below its extent is not assumed here. It is one
    of the properties below. *)
Fixpoint axis_extent (l : list (positive * term)) (x : positive) : option term :=
  match l with
  | [] => None
  | (y, t) :: l => if Pos.eqb x y then Some t else axis_extent l x
  end.
Fixpoint fold_numbers (t : term) : term :=
  match t with
  | Op o a b =>
      match o, fold_numbers a, fold_numbers b with
      | OAdd, Num x, Num y => Num (x + y)
      | OSub, Num x, Num y => Num (x - y)
      | OMul, Num x, Num y => Num (x * y)
      | ODiv, Num x, Num y => Num (x / y)
      | OMod, Num x, Num y => Num (x mod y)
      | ODiv, x, Num 1 => x
      | OMod, _, Num 1 => Num 0
      | o, x, y => Op o x y
      end
  | _ => t
  end.
Fixpoint power_from (n : nat) (p z : Z) : Z :=
  match n with O => p | S n => if z <=? p then p else power_from n (2 * p) z end.
(** The extent of [e ^ f], from those of [e] and [f]: one of these is a number. Let [p] be that
    number rounded up to a power of two, and round the other extent up to a multiple of [p]. *)
Definition joined (a b : term) : term :=
  match fold_numbers a, fold_numbers b with
  | Num x, Num y => let p := power_from 62 1 (Z.min x y) in
                    Op OMul (ceiling (Num (Z.max x y)) (Num p)) (Num p)
  | t, Num y | Num y, t => let p := power_from 62 1 y in Op OMul (ceiling t (Num p)) (Num p)
  | _, _ => Num 0
  end.
Section Meaning.
Variable L : layout.

(** The lowest value of [f] in [e - f]. *)
Fixpoint lowest (e : expr) : term :=
  match e with
  | Name x => match axis_extent (axes L) x with Some _ => Num 0 | None => Var x end
  | Int z => Num z
  | Calc OAdd a b => Op OAdd (lowest a) (lowest b)
  | _ => Num 0                           (* [has_lowest] says where it is right *)
  end.
Fixpoint extent (e : expr) : term :=
  match e with
  | Name x => match axis_extent (axes L) x with Some t => t | None => Op OAdd (Var x) (Num 1) end
  | Int z => Num (z + 1)
  | Calc OAdd a b => Op OSub (Op OAdd (extent a) (extent b)) (Num 1)
  | Calc OSub a b => Op OSub (extent a) (lowest b)
  | Calc OMul a b =>
      Op OAdd (Op OMul (Op OSub (extent a) (Num 1)) (Op OSub (extent b) (Num 1))) (Num 1)
  | Calc ODiv a b => ceiling (extent a) (plain b)
  | Calc OMod a b => plain b
  | Xor a b => joined (extent a) (extent b)
  | Mask a m => Num (m + 1)
  | Pair a b => Op OMul (extent a) (extent b)
  | Sized a b => plain b
  | Ceil _ _ => Num 0                    (* [has_extent] requires that it is declared *)
  end.

(** The value of an expression: a tuple is a mixed-radix number. *)
Fixpoint value (v : valuation) (e : expr) : Z :=
  match e with
  | Name x => v x
  | Int z => z
  | Calc o a b => apply_op floor o (value v a) (value v b)
  | Ceil a b => (value v a + (value v b - 1)) / value v b
  | Xor a b => Z.lxor (value v a) (value v b)
  | Mask a m => Z.land (value v a) m
  | Pair a b => value v a * number v (extent b) + value v b
  | Sized a b => value v a
  end.

(** A valuation says how long each axis is, what each parameter is, and where the index stands. *)
Definition condition (v : valuation) (c : rel * bool * expr * expr) : Prop :=
  let '(r, negated, a, b) := c in
  let holds := match r with
               | REq => value v a = value v b
               | RLe => value v a <= value v b
               | RLt => value v a < value v b
               end in
  if negated then ~ holds else holds.
Definition in_range (v : valuation) : Prop :=
  Forall (fun x => 1 <= v x) (symbols L) /\ Forall (condition v) (where_ L).
Definition within (v : valuation) (box : list (positive * term)) : Prop :=
  Forall (fun a => 0 <= v (fst a) < number v (snd a)) box.

(** An element of the tensor: a shape that the layout allows, and an index within it. *)
Definition element (v : valuation) : Prop := in_range v /\ within v (axes L).

Definition offset (v : valuation) : Z := value v (start L) + value v (coordinates L).
(** The slots of the buffer: as many as the product of all extents. *)
Definition is_slot (v : valuation) (s : Z) : Prop :=
  value v (start L) <= s < value v (start L) + number v (extent (coordinates L)).

Definition is_axis (x : positive) : Prop := In x (map fst (axes L)).
Definition same_shape (v w : valuation) : Prop := forall x, ~ is_axis x -> v x = w x.
Definition same_index (v w : valuation) : Prop := forall x, is_axis x -> v x = w x.

(** Parts of tuples: each stays below its extent. *)
Fixpoint parts (e : expr) : list expr :=
  match e with
  | Pair a b => match a with Pair _ _ => [] | _ => [a] end ++ b :: parts a ++ parts b
  | Calc _ a b | Ceil a b | Xor a b => parts a ++ parts b
  | Mask a _ | Sized a _ => parts a
  | _ => []
  end.

Fixpoint zip {A B : Type} (l : list A) (k : list B) : list (A * B) :=
  match l, k with x :: l, y :: k => (x, y) :: zip l k | _, _ => [] end.

(** * What is confirmed of a layout

    1. The range is not empty: there is an element. *)
Definition has_element : Prop := exists v, element v.

(** 2. The slot of each element is in the buffer, whose size depends on the shape alone; each part
    of a tuple is below its extent; and two elements of one shape have two slots. *)
Record one_to_one : Prop := {
  buffer_of_shape : forall v w s, same_shape v w -> is_slot v s -> is_slot w s;
  in_bounds : forall v, element v -> is_slot v (offset v);
  parts_in_bounds : forall v, element v ->
    Forall (fun e => 0 <= value v e < number v (extent e)) (parts (coordinates L));
  injective : forall v w, element v -> element w -> same_shape v w ->
    offset v = offset w -> same_index v w }.

(** 3. An inverse finds the element of a slot. It has a name for the slot, a term [found] for each
    index, and conditions [gaps] that hold of each slot outside gaps. [box] has an extent for each
    axis. *)
Record inverse := {
  slot_name : positive;
  box : list (positive * term);
  found : list (positive * term);
  gaps : list formula }.
Variable I : inverse.

Definition at_slot (v : valuation) (s : Z) : valuation := update v (slot_name I) s.
Definition no_gap (v : valuation) (s : Z) : Prop := all floor (at_slot v s) (gaps I).
Definition found_index (v : valuation) (s : Z) : list (positive * Z) :=
  map (fun a => (fst a, number (at_slot v s) (snd a))) (found I).
Definition is_index (v : valuation) (l : list (positive * Z)) : Prop :=
  Forall (fun a => v (fst a) = snd a) l.

Record inverts : Prop := {
  inverse_axes : map fst (found I) = map fst (axes L) /\ map fst (box I) = map fst (axes L);
  (** What is found depends on the shape and the slot alone. *)
  found_of_slot : forall v w s, same_shape v w -> found_index v s = found_index w s;
  gaps_of_slot : forall v w s, same_shape v w -> no_gap v s -> no_gap w s;
  (** Reading the slot of an element gives its index. *)
  read_back : forall v, element v -> no_gap v (offset v) /\ is_index v (found_index v (offset v));
  (** Padding is exact: a slot holds an element if and only if it is in no gap and the index that
      is found is one of the tensor. *)
  padding : forall v s, in_range v -> is_slot v s ->
    (exists w, same_shape v w /\ element w /\ offset w = s) <->
    (no_gap v s /\
     Forall (fun a => 0 <= snd (fst a) < number v (snd (snd a)))
            (zip (found_index v s) (axes L))) }.

(** 4. The offset is a bijection between a box that contains the tensor and the slots outside
    gaps. Without gaps these are all slots. *)
Definition in_box (v : valuation) : Prop := in_range v /\ within v (box I).
Record fills_box : Prop := {
  box_of_shape : forall v w a, same_shape v w -> In a (box I) -> number v (snd a) = number w (snd a);
  box_contains_tensor : forall v, element v -> in_box v;
  box_in_bounds : forall v, in_box v -> is_slot v (offset v) /\ no_gap v (offset v);
  box_injective : forall v w, in_box v -> in_box w -> same_shape v w ->
    offset v = offset w -> same_index v w;
  box_onto : forall v s, in_range v -> is_slot v s -> no_gap v s ->
    exists w, same_shape v w /\ in_box w /\ offset w = s }.
End Meaning.

(** What [layoutdsl-check] prints, for a layout whose conditions speak of the shape alone. *)
Definition packs (L : layout) : Prop :=
  has_element L /\ one_to_one L /\ exists I, inverts L I /\ fills_box L I.
(** The stronger sentence without gaps: every slot holds an element of the box. *)
Definition packs_without_gaps (L : layout) : Prop :=
  has_element L /\ one_to_one L /\ exists I, gaps I = [] /\ inverts L I /\ fills_box L I.
(** The sentence for a layout that holds a part of the tensor, such as a triangle. *)
Definition places (L : layout) : Prop := has_element L /\ one_to_one L.

(** * The program: compare theorems with a layout *)

Fixpoint avoids (taken : positive -> bool) (t : term) : bool :=
  match t with
  | Num _ => true
  | Var x => negb (taken x)
  | Op _ a b => avoids taken a && avoids taken b
  end.
Fixpoint formula_avoids (taken : positive -> bool) (f : formula) : bool :=
  match f with
  | Rel _ a b => avoids taken a && avoids taken b
  | And f g | Or f g | Imp f g => formula_avoids taken f && formula_avoids taken g
  | Not f => formula_avoids taken f
  end.

(** Equal as polynomials, with numbers computed. *)
Definition same (a b : term) : bool :=
  term_eqb a b || equal_polynomials (fold_numbers a) (fold_numbers b).
Fixpoint same_formula (f g : formula) : bool :=
  match f, g with
  | Rel r a b, Rel s c d => rel_eqb r s && same a c && same b d
  | And a b, And c d | Or a b, Or c d | Imp a b, Imp c d => same_formula a c && same_formula b d
  | Not a, Not b => same_formula a b
  | _, _ => false
  end.

(** Names of definitions become terms over variables. A name in [slots] stays as it is: its
    definition has to be the term that is given there. *)
Definition term_at (m : M.t term) (x : positive) : term :=
  match M.find x m with Some t => t | None => Var x end.
Fixpoint find_slot (slots : list (positive * term)) (x : positive) : option term :=
  match slots with
  | [] => None
  | (y, t) :: l => if Pos.eqb x y then Some t else find_slot l x
  end.
Fixpoint expand (slots : list (positive * term)) (m : M.t term) (ds : list (positive * term))
    : option (M.t term) :=
  match ds with
  | [] => Some m
  | (x, t) :: ds =>
      let u := subst (term_at m) t in
      match find_slot slots x with
      | Some s => if same u s then expand slots (M.add x (Var x) m) ds else None
      | None => expand slots (M.add x u m) ds
      end
  end.

(** Whether a theorem says that [given] implies [wanted]: it has no hypothesis beyond [given],
    and every formula of [wanted] is a goal. *)
Definition says (slots : list (positive * term)) (given wanted : list formula) (th : theorem)
    : bool :=
  match expand slots (M.empty term) (defs th) with
  | Some m =>
      let sub := subst_formula (term_at m) in
      let gs := map sub (goals th) in
      forallb (fun h => existsb (same_formula (sub h)) given) (hyps th)
      && forallb (fun g => existsb (same_formula g) gs) wanted
  | None => false
  end.

Section Program.
Variable L : layout.

(** The term of an expression has the same value where the formulas beside it hold. For [a ^ b]
    and [a & m] it is a sum of bits, as in [layoutdsl/language/integers/bits.py]. [as_bit] gives
    the term of one bit. *)
Record spelling := {
  as_term : option (term * list formula);
  as_bit : nat -> option term }.
Definition pow2 (k : nat) : Z := 2 ^ Z.of_nat k.
Definition over (t : term) (k : nat) : term :=
  match k with O => t | _ => Op ODiv t (Num (pow2 k)) end.
Definition times (t : term) (k : nat) : term :=
  match k with O => t | _ => Op OMul t (Num (pow2 k)) end.
Definition log2_of (z : Z) : option nat :=
  let k := Z.to_nat (Z.log2 z) in if pow2 k =? z then Some k else None.
Definition a_bit (t : option (term * list formula)) (k : nat) : option term :=
  match t with Some (t, []) => Some (Op OMod (over t k) (Num 2)) | _ => None end.
Definition parity (a b : term) : term :=
  match a, b with
  | Num 0, t | t, Num 0 => t
  | _, _ => Op OMod (Op OAdd a b) (Num 2)
  end.

(** The bits [low], ..., [low + run + n - 1] of [a ^ b], in their places. The bits of [b] from
    [low] to [low + run - 1] are 0. *)
Definition run_of (t : term) (low run : nat) : term := times (Op OMod (over t low) (Num (pow2 run))) low.
Fixpoint xor_bits (t : term) (a b : nat -> option term) (low run n : nat) : option term :=
  match n with
  | O => Some (run_of t low run)
  | S n =>
      match b (low + run)%nat with
      | Some (Num 0) => xor_bits t a b low (Datatypes.S run) n
      | Some tb =>
          match a (low + run)%nat, xor_bits t a b (low + run + 1) 0 n with
          | Some ta, Some rest =>
              let here := Op OAdd (times (parity ta tb) (low + run)) rest in
              Some (match run with O => here | _ => Op OAdd (run_of t low run) here end)
          | _, _ => None
          end
      | None => None
      end
  end.

(** How many bits the value of an expression has, whatever its names are; and where the extent of
    the expression says so. *)
Definition bits_of (z : Z) : option nat :=
  if (0 <? z) && (z <=? 16777216) then Some (Z.to_nat (Z.log2_up z)) else None.
Definition evident (e : expr) : option nat :=
  match e with
  | Int z => if 0 <=? z then bits_of (z + 1) else None
  | Mask _ m => if 0 <=? m then bits_of (m + 1) else None
  | Calc OMod _ (Int d) => bits_of d
  | _ => None
  end.
Definition width (e : expr) (t : option (term * list formula)) : option (nat * list formula) :=
  match evident e, t with
  | Some w, _ => Some (w, [])
  | None, Some (t, l) =>
      match fold_numbers (extent L e) with
      | Num z =>
          match bits_of z with
          | Some w => Some (w, l ++ [Rel RLe (Num 0) t; Rel RLt t (Num (pow2 w))])
          | None => None
          end
      | _ => None
      end
  | None, None => None
  end.
(** [a ^ b], with [b] below [2^w]. *)
Definition xor_term (a b : spelling) (w : nat) (l : list formula) : option (term * list formula) :=
  match as_term a with
  | Some (t, k) =>
      match xor_bits t (as_bit a) (as_bit b) 0 0 w with
      | Some u => Some (Op OAdd (times (over t w) w) u, k ++ l)
      | None => None
      end
  | None => None
  end.

Definition two (f : term -> term -> term) (a b : spelling) : option (term * list formula) :=
  match as_term a, as_term b with
  | Some (t, l), Some (u, k) => Some (f t u, l ++ k)
  | _, _ => None
  end.
Definition plainly (t : option (term * list formula)) : spelling :=
  {| as_term := t; as_bit := a_bit t |}.
Fixpoint spelled (e : expr) : spelling :=
  match e with
  | Name x => plainly (Some (Var x, []))
  | Int z => {| as_term := Some (Num z, []);
                as_bit := fun k => Some (Num (Z.b2z (Z.testbit z (Z.of_nat k)))) |}
  | Calc o a b =>
      let t := two (Op o) (spelled a) (spelled b) in
      {| as_term := t;
         as_bit := fun k =>
           match o, b with
           | ODiv, Int d =>
               match log2_of d with Some j => as_bit (spelled a) (k + j)%nat | None => a_bit t k end
           | OMod, Int d =>
               match log2_of d with
               | Some j => if Nat.ltb k j then as_bit (spelled a) k else Some (Num 0)
               | None => a_bit t k
               end
           | _, _ => a_bit t k
           end |}
  | Ceil a b => plainly (two ceiling (spelled a) (spelled b))
  | Pair a b =>
      plainly (two (fun t u => Op OAdd (Op OMul t (extent L b)) u) (spelled a) (spelled b))
  | Sized a _ => spelled a
  | Mask a m =>
      {| as_term := None;
         as_bit := fun k => if Z.testbit m (Z.of_nat k) then as_bit (spelled a) k else Some (Num 0) |}
  | Xor a b =>
      let sa := spelled a in
      let sb := spelled b in
      {| as_term :=
           match width b (as_term sb), width a (as_term sa) with
           | Some (w, l), Some (w', l') =>
               if Nat.leb w w' then xor_term sa sb w l else xor_term sb sa w' l'
           | Some (w, l), None => xor_term sa sb w l
           | None, Some (w, l) => xor_term sb sa w l
           | None, None => None
           end;
         as_bit := fun k =>
           match as_bit sa k, as_bit sb k with Some t, Some u => Some (parity t u) | _, _ => None end |}
  end.
Definition spell (e : expr) : option (term * list formula) := as_term (spelled e).

(** Whether the language gives an expression an extent. *)
Fixpoint is_plain (e : expr) : bool :=
  match e with
  | Name x => match axis_extent (axes L) x with Some _ => false | None => true end
  | Int _ => true
  | Calc _ a b | Ceil a b => is_plain a && is_plain b
  | _ => false
  end.
Fixpoint has_lowest (e : expr) : bool :=
  match e with
  | Name _ | Pair _ _ => true
  | Int z => 0 <=? z
  | Calc OAdd a b => has_lowest a && has_lowest b
  | Calc ODiv a b => has_lowest a && is_plain b
  | Calc OMod _ b => is_plain b
  | _ => false
  end.
Fixpoint has_extent (e : expr) : bool :=
  match e with
  | Name _ => true
  | Int z => 0 <=? z
  | Calc OSub a b => has_extent a && has_lowest b
  | Ceil _ _ => false
  | Calc ODiv a b => has_extent a && is_plain b
  | Calc OMod _ b | Sized _ b => is_plain b
  | Calc _ a b | Xor a b | Pair a b => has_extent a && has_extent b
  | Mask _ m => 0 <=? m
  end.

Fixpoint spell_conditions (l : list (rel * bool * expr * expr)) : option (list formula) :=
  match l with
  | [] => Some []
  | (r, negated, a, b) :: l =>
      match spell a, spell b, spell_conditions l with
      | Some (t, []), Some (u, []), Some fs =>
          Some ((if negated then Not (Rel r t u) else Rel r t u) :: fs)
      | _, _, _ => None
      end
  end.
Fixpoint spell_parts (l : list expr) : option (list (term * term) * list formula) :=
  match l with
  | [] => Some ([], [])
  | e :: l =>
      match spell e, spell_parts l with
      | Some (t, k), Some (ts, ks) => Some ((t, extent L e) :: ts, k ++ ks)
      | _, _ => None
      end
  end.

(** The layout in terms: its range, first slot, offset, size and parts, and the formulas on which
    the term of the offset rests. *)
Record spoken := {
  range : list formula;
  first : term;
  place : term;
  size : term;
  pieces : list (term * term);
  needs : list formula }.
Definition speak : option spoken :=
  if negb (forallb has_extent (coordinates L :: parts (coordinates L))) then None else
  match spell_conditions (where_ L), spell (start L), spell (coordinates L),
        spell_parts (parts (coordinates L)) with
  | Some cs, Some (t, []), Some (u, l), Some (ps, k) =>
      Some {| range := map (fun x => Rel RLe (Num 1) (Var x)) (symbols L) ++ cs;
              first := t; place := Op OAdd t u; size := extent L (coordinates L);
              pieces := ps; needs := l ++ k |}
  | _, _, _, _ => None
  end.

Definition bounds (t high : term) : list formula := [Rel RLe (Num 0) t; Rel RLt t high].
Definition inside (b : list (positive * term)) : list formula :=
  flat_map (fun a => bounds (Var (fst a)) (snd a)) b.
Definition slot_bounds (W : spoken) (s : positive) : list formula :=
  [Rel RLe (first W) (Var s); Rel RLt (Var s) (Op OAdd (first W) (size W))].

Definition index_name (x : positive) : bool := existsb (Pos.eqb x) (map fst (axes L)).
Definition taken (s x : positive) : bool := index_name x || Pos.eqb x s.

(** [element] and [encode]: of each index within [b]. *)
Definition enters (W : spoken) (s : positive) (b : list (positive * term)) (more : list formula)
    : theorem -> bool :=
  says [(s, place W)] (range W ++ inside b) (needs W ++ slot_bounds W s ++ more).
Definition inner (W : spoken) : list formula := flat_map (fun p => bounds (fst p) (snd p)) (pieces W).
Definition is_read (I : inverse) : list formula :=
  map (fun a => Rel REq (snd a) (Var (fst a))) (found I) ++ gaps I.
(** [decode] and [padding]: of each slot outside gaps. *)
Definition index_term (I : inverse) (x : positive) : term :=
  match find_slot (found I) x with Some t => t | None => Var x end.
Definition returns (W : spoken) (I : inverse) (given wanted : list formula) : theorem -> bool :=
  says [] (range W ++ slot_bounds W (slot_name I) ++ gaps I ++ given)
    (wanted ++ map (subst_formula (index_term I)) (needs W)
     ++ [Rel REq (subst (index_term I) (place W)) (Var (slot_name I))]).
Definition inverse_bounds (I : inverse) : list formula :=
  flat_map (fun p => bounds (snd (fst p)) (snd (snd p))) (zip (found I) (box I)).
Definition inverse_low (I : inverse) : list formula :=
  map (fun a => Rel RLe (Num 0) (snd a)) (found I).
Definition inverse_high (I : inverse) : list formula :=
  map (fun p => Rel RLt (snd (fst p)) (snd (snd p))) (zip (found I) (axes L)).
(** [shape]: the tensor is within the box. *)
Definition box_is_larger (I : inverse) : list formula :=
  flat_map (fun p => let '(a, b) := p in
                     if same (snd a) (snd b) then [] else [Rel RLe (snd a) (snd b)])
    (zip (axes L) (box I)).

Fixpoint names_eqb (l k : list positive) : bool :=
  match l, k with
  | [], [] => true
  | x :: l, y :: k => Pos.eqb x y && names_eqb l k
  | _, _ => false
  end.
(** The names of a layout are used as they should be. *)
Definition well_named (W : spoken) (s : positive) : bool :=
  negb (index_name s)
  && forallb (fun a => avoids (taken s) (snd a)) (axes L)
  && avoids (taken s) (first W) && avoids (taken s) (size W)
  && avoids (Pos.eqb s) (place W)
  && forallb (fun f => formula_avoids (Pos.eqb s) f) (range W ++ needs W)
  && forallb (fun p => avoids (Pos.eqb s) (fst p) && avoids (Pos.eqb s) (snd p)) (pieces W).
Definition well_named_inverse (W : spoken) (I : inverse) : bool :=
  names_eqb (map fst (found I)) (map fst (axes L))
  && names_eqb (map fst (box I)) (map fst (axes L))
  && forallb (fun a => match find_slot (found I) (fst a) with
                       | Some t => term_eqb t (snd a) | None => false end) (found I)
  && forallb (fun a => avoids index_name (snd a)) (found I)
  && forallb (fun f => formula_avoids index_name f) (gaps I)
  && forallb (fun a => avoids (taken (slot_name I)) (snd a)) (box I)
  && forallb (fun f => formula_avoids (taken (slot_name I)) f) (range W).

(** An element, to show that there is one. *)
Definition valued (l : list (positive * Z)) (x : positive) : Z :=
  match find (fun p => Pos.eqb x (fst p)) l with Some p => snd p | None => 0 end.
Definition condition_holds (v : valuation) (c : rel * bool * expr * expr) : bool :=
  let '(r, negated, a, b) := c in
  let holds := match r with
               | REq => value L v a =? value L v b
               | RLe => value L v a <=? value L v b
               | RLt => value L v a <? value L v b
               end in
  if negated then negb holds else holds.
Definition is_element (v : valuation) : bool :=
  forallb (fun x => 1 <=? v x) (symbols L) && forallb (condition_holds v) (where_ L)
  && forallb (fun a => (0 <=? v (fst a)) && (v (fst a) <? number v (snd a))) (axes L).

Definition check_packs (example : list (positive * Z)) (I : inverse) (ths : list theorem) : bool :=
  match speak with
  | None => false
  | Some W =>
      let s := slot_name I in
      is_element (valued example) && well_named W s && well_named_inverse W I
      && existsb (enters W s (axes L) (inner W ++ is_read I)) ths
      && existsb (enters W s (box I) (is_read I)) ths
      && existsb (says [] (range W) (box_is_larger I)) ths
      && existsb (returns W I [] (inverse_bounds I)) ths
      && existsb (returns W I (inverse_high I) (inverse_low I)) ths
  end.

(** For a part of a tensor there is a theorem about two elements. The second has the names [other]
    for its indices, and [s2] for its slot. *)
Definition second (other : list (positive * positive)) (x : positive) : positive :=
  match find (fun p => Pos.eqb x (fst p)) other with Some p => snd p | None => x end.
Definition renamed (other : list (positive * positive)) (x : positive) : term := Var (second other x).
Definition two_elements (W : spoken) (s s2 : positive) (other : list (positive * positive))
    : theorem -> bool :=
  let given := range W ++ inside (axes L) in
  says [(s, place W); (s2, subst (renamed other) (place W))]
    (given ++ map (subst_formula (renamed other)) given ++ [Rel REq (Var s) (Var s2)])
    (map (fun a => Rel REq (Var (fst a)) (renamed other (fst a))) (axes L)).
Definition check_places (example : list (positive * Z)) (s s2 : positive)
    (other : list (positive * positive)) (ths : list theorem) : bool :=
  match speak with
  | None => false
  | Some W =>
      let fresh x := Pos.eqb x s || Pos.eqb x s2 || existsb (Pos.eqb x) (map snd other) in
      let given := range W ++ inside (axes L) in
      is_element (valued example) && well_named W s
      && names_eqb (map fst other) (map fst (axes L))
      && forallb (fun a => Pos.eqb (second (map (fun p => (snd p, fst p)) other) (second other a)) a)
           (map fst (axes L))
      && negb (Pos.eqb s s2) && negb (existsb (Pos.eqb s) (map snd other))
      && negb (existsb (Pos.eqb s2) (map snd other))
      && forallb (formula_avoids fresh) given && avoids fresh (place W)
      && forallb (fun a => negb (fresh (fst a))) (axes L)
      && existsb (enters W s (axes L) (inner W)) ths
      && existsb (two_elements W s s2 other) ths
  end.
End Program.

(** * Soundness *)

Lemma in_zip_l {A B} (l : list A) : forall (k : list B) x y, In (x, y) (zip l k) -> In x l.
Proof.
  induction l as [|a l IH]; intros [|b k] x y H; cbn in *; try contradiction.
  destruct H as [H|H]; [left; congruence|right; eauto].
Qed.
Lemma in_zip_r {A B} (l : list A) : forall (k : list B) x y, In (x, y) (zip l k) -> In y k.
Proof.
  induction l as [|a l IH]; intros [|b k] x y H; cbn in *; try contradiction.
  destruct H as [H|H]; [left; congruence|right; eauto].
Qed.

Lemma fold_numbers_ok v t : number v (fold_numbers t) = number v t.
Proof.
  induction t as [z|x|o a IHa b IHb]; auto. cbn [fold_numbers eval]. rewrite <- IHa, <- IHb.
  destruct o, (fold_numbers a), (fold_numbers b); cbn; auto;
    destruct z; cbn; auto; try destruct z0; cbn; auto;
    try (destruct p; cbn; auto; now rewrite ?Z.div_1_r, ?Z.mod_1_r);
    try (destruct p0; cbn; auto; now rewrite ?Z.div_1_r, ?Z.mod_1_r).
Qed.
Lemma same_ok v a b : same a b = true -> number v a = number v b.
Proof.
  unfold same. intro H. apply orb_true_iff in H. destruct H as [H|H].
  - apply term_eqb_eq in H. congruence.
  - apply (equal_polynomials_ok floor v) in H. now rewrite !fold_numbers_ok in H.
Qed.
Lemma same_formula_ok v f : forall g, same_formula f g = true -> (holds floor v f <-> holds floor v g).
Proof.
  induction f; destruct g; simpl; try discriminate; intro H;
    repeat (apply andb_true_iff in H; destruct H as [H ?]).
  - apply rel_eqb_eq in H. subst. apply (same_ok v) in H0, H1. rewrite H0, H1. tauto.
  - rewrite (IHf1 _ H), (IHf2 _ H0). tauto.
  - rewrite (IHf1 _ H), (IHf2 _ H0). tauto.
  - rewrite (IHf1 _ H), (IHf2 _ H0). tauto.
  - rewrite (IHf _ H). tauto.
Qed.

(** Terms and formulas depend on the names that occur in them. *)
Definition agree_off (no : positive -> bool) (v w : valuation) := forall x, no x = false -> v x = w x.
Lemma avoids_ok no v w t : agree_off no v w -> avoids no t = true -> number v t = number w t.
Proof.
  intro A. induction t; simpl; intro H; auto.
  - apply A. now apply negb_true_iff.
  - apply andb_true_iff in H. destruct H. rewrite IHt1, IHt2; auto.
Qed.
Lemma formula_avoids_ok no v w f : agree_off no v w -> formula_avoids no f = true ->
  (holds floor v f <-> holds floor w f).
Proof.
  intro A. induction f; simpl; intro H; try (apply andb_true_iff in H; destruct H as [H1 H2]).
  - rewrite (avoids_ok no v w a A H1), (avoids_ok no v w b A H2). tauto.
  - rewrite IHf1, IHf2; tauto.
  - rewrite IHf1, IHf2; tauto.
  - rewrite IHf1, IHf2; tauto.
  - rewrite IHf; tauto.
Qed.
Lemma all_avoids_ok no v w l : agree_off no v w -> forallb (formula_avoids no) l = true ->
  all floor v l -> all floor w l.
Proof.
  intros A H. unfold all. rewrite !Forall_forall. rewrite forallb_forall in H.
  intros V f F. apply (formula_avoids_ok no v w f A); auto.
Qed.
Lemma eval_ext v w t : (forall x, v x = w x) -> number v t = number w t.
Proof. intro E. induction t; simpl; congruence. Qed.
Lemma holds_ext v w f : (forall x, v x = w x) -> (holds floor v f <-> holds floor w f).
Proof.
  intro E. induction f; simpl; try tauto. now rewrite (eval_ext v w a E), (eval_ext v w b E).
Qed.

Lemma expand_ok slots v ds : (forall x t, find_slot slots x = Some t -> v x = number v t) ->
  forall m m' w, expand slots m ds = Some m' -> (forall y, number v (term_at m y) = w y) ->
  forall y, number v (term_at m' y) = extend floor ds w y.
Proof.
  intro SL. induction ds as [|[x t] ds IH]; cbn [expand extend]; intros m m' w H E y.
  - inversion H; subst. auto.
  - assert (U : number v (subst (term_at m) t) = number w t).
    { rewrite subst_ok. apply eval_ext. exact E. }
    destruct (find_slot slots x) as [s|] eqn:F.
    + destruct (same _ s) eqn:SA; try discriminate. apply (same_ok v) in SA.
      apply (IH _ _ (update w x (number w t)) H). intro z.
      unfold term_at, update. destruct (Pos.eqb_spec z x) as [->|ne].
      * rewrite M.gss. simpl. rewrite (SL _ _ F). congruence.
      * rewrite M.gso by auto. apply E.
    + apply (IH _ _ (update w x (number w t)) H). intro z.
      unfold term_at, update. destruct (Pos.eqb_spec z x) as [->|ne].
      * rewrite M.gss. exact U.
      * rewrite M.gso by auto. apply E.
Qed.

Lemma says_ok slots given wanted th v : says slots given wanted th = true -> true_as_written th ->
  (forall x t, find_slot slots x = Some t -> v x = number v t) ->
  all floor v given -> all floor v wanted.
Proof.
  unfold says. intros H T SL G. destruct (expand slots _ _) as [m|] eqn:E; try discriminate.
  apply andb_true_iff in H. destruct H as [H1 H2]. rewrite forallb_forall in H1, H2.
  assert (W0 : forall y, number v (term_at (M.empty term) y) = v y).
  { intro y. unfold term_at. now rewrite M.gempty. }
  pose proof (expand_ok slots v _ SL _ _ v E W0) as W.
  unfold all in *. rewrite Forall_forall in *.
  assert (X : forall f, holds floor v (subst_formula (term_at m) f)
                        <-> holds floor (extend floor (defs th) v) f).
  { intro f. rewrite subst_formula_ok. apply holds_ext. exact W. }
  specialize (T floor v). cbv zeta in T. unfold all in T. rewrite !Forall_forall in T.
  assert (Q : forall g, In g (goals th) -> holds floor (extend floor (defs th) v) g).
  { apply T. intros h I. apply X. specialize (H1 h I). apply existsb_exists in H1.
    destruct H1 as (f & F & S). apply (same_formula_ok v) in S. apply S. auto. }
  intros g I. specialize (H2 g I). apply existsb_exists in H2. destruct H2 as (f & F & S).
  apply in_map_iff in F. destruct F as (k & <- & K).
  apply (same_formula_ok v) in S. apply S, X. auto.
Qed.

Section Sound.
Variable L : layout.

Lemma pow2_pos k : 0 < pow2 k.
Proof. unfold pow2. apply Z.pow_pos_nonneg; lia. Qed.
Lemma pow2_add j k : pow2 (j + k) = pow2 j * pow2 k.
Proof. unfold pow2. rewrite Nat2Z.inj_add. apply Z.pow_add_r; lia. Qed.
Lemma over_ok v t k : number v (over t k) = number v t / pow2 k.
Proof. destruct k; cbn [over eval apply_op floor quo]; auto. now rewrite Z.div_1_r. Qed.
Lemma times_ok v t k : number v (times t k) = number v t * pow2 k.
Proof. destruct k; cbn [times eval apply_op]; auto. cbn. lia. Qed.
Lemma log2_of_ok z k : log2_of z = Some k -> z = pow2 k.
Proof. unfold log2_of. destruct (_ =? z) eqn:E; try discriminate. apply Z.eqb_eq in E. congruence. Qed.

Definition bit_is (v : valuation) (z : Z) (b : nat -> option term) : Prop :=
  forall k t, b k = Some t -> number v t = Z.b2z (Z.testbit z (Z.of_nat k)).
Lemma bit_value z k : Z.b2z (Z.testbit z (Z.of_nat k)) = (z / pow2 k) mod 2.
Proof. apply Z.testbit_spec'. lia. Qed.
Lemma a_bit_ok v o z : (forall t l, o = Some (t, l) -> all floor v l -> number v t = z) ->
  bit_is v z (a_bit o).
Proof.
  intros H k t. unfold a_bit. destruct o as [[u [|]]|]; try discriminate. intro E. inversion E; subst.
  cbn [eval apply_op floor rem]. rewrite over_ok, (H u [] eq_refl (Forall_nil _)). symmetry. apply bit_value.
Qed.
Lemma parity_ok v a b x y : number v a = Z.b2z x -> number v b = Z.b2z y ->
  number v (parity a b) = Z.b2z (xorb x y).
Proof.
  intros A B.
  assert (X : number v (Op OMod (Op OAdd a b) (Num 2)) = Z.b2z (xorb x y)).
  { cbn [eval apply_op floor rem]. rewrite A, B. now destruct x, y. }
  unfold parity.
  destruct a as [[|pa|pa]| |]; try (cbn in A; destruct x; try discriminate; destruct y; exact B);
    destruct b as [[|pb|pb]| |]; auto;
    (cbn [eval] in B; destruct y; try discriminate; rewrite xorb_false_r; exact A).
Qed.

Lemma low_bits_equal x y low run : (forall j, (j < run)%nat ->
    Z.testbit x (Z.of_nat (low + j)) = Z.testbit y (Z.of_nat (low + j))) ->
  (x / pow2 low) mod pow2 run = (y / pow2 low) mod pow2 run.
Proof.
  intro H. unfold pow2. apply Z.bits_inj'. intros n N.
  destruct (Z.lt_ge_cases n (Z.of_nat run)) as [C|C].
  - rewrite !Z.mod_pow2_bits_low, !Z.div_pow2_bits by lia.
    replace (n + Z.of_nat low) with (Z.of_nat (low + Z.to_nat n)) by lia. apply H. lia.
  - rewrite !Z.mod_pow2_bits_high by lia. reflexivity.
Qed.
Lemma split_bits x low run n :
  (x / pow2 low) mod pow2 (run + S n) * pow2 low =
  (x / pow2 low) mod pow2 run * pow2 low + Z.b2z (Z.testbit x (Z.of_nat (low + run))) * pow2 (low + run)
  + (x / pow2 (low + run + 1)) mod pow2 n * pow2 (low + run + 1).
Proof.
  replace (run + S n)%nat with (run + (1 + n))%nat by lia.
  rewrite !pow2_add, bit_value, pow2_add. change (pow2 1) with 2.
  pose proof (pow2_pos low). pose proof (pow2_pos run). pose proof (pow2_pos n).
  rewrite Z.rem_mul_r, Z.rem_mul_r by lia. rewrite !Z.div_div by lia. ring.
Qed.
Lemma run_of_ok v t x y low run : number v t = x ->
  (forall j, (j < run)%nat -> Z.testbit y (Z.of_nat (low + j)) = false) ->
  number v (run_of t low run) = (Z.lxor x y / pow2 low) mod pow2 run * pow2 low.
Proof.
  intros E H. unfold run_of. rewrite times_ok. cbn [eval apply_op floor rem]. rewrite over_ok, E.
  f_equal. apply low_bits_equal. intros j J. rewrite Z.lxor_spec, (H j J). now rewrite xorb_false_r.
Qed.
Lemma xor_bits_ok v t a b x y : number v t = x -> bit_is v x a -> bit_is v y b ->
  forall n low run u, xor_bits t a b low run n = Some u ->
  (forall j, (j < run)%nat -> Z.testbit y (Z.of_nat (low + j)) = false) ->
  number v u = (Z.lxor x y / pow2 low) mod pow2 (run + n) * pow2 low.
Proof.
  intros E A B. induction n as [|n IH]; cbn [xor_bits]; intros low run u H Z0.
  - inversion H; subst u. rewrite Nat.add_0_r. now apply run_of_ok.
  - destruct (b (low + run)%nat) as [tb|] eqn:Eb; try discriminate.
    pose proof (B _ _ Eb) as Bb.
    assert (STEP : forall r : option term, r = (match a (low + run)%nat, xor_bits t a b (low + run + 1) 0 n with
          | Some ta, Some rest =>
              let here := Op OAdd (times (parity ta tb) (low + run)) rest in
              Some (match run with O => here | _ => Op OAdd (run_of t low run) here end)
          | _, _ => None
          end) -> r = Some u -> number v u = (Z.lxor x y / pow2 low) mod pow2 (run + S n) * pow2 low).
    { intros r -> H'. destruct (a (low + run)%nat) as [ta|] eqn:Ea; try discriminate.
      destruct (xor_bits t a b (low + run + 1) 0 n) as [rest|] eqn:Er; try discriminate.
      pose proof (A _ _ Ea) as Aa. apply IH in Er; [|lia]. rewrite Nat.add_0_l in Er.
      assert (P : number v (Op OAdd (times (parity ta tb) (low + run)) rest) =
        Z.b2z (Z.testbit (Z.lxor x y) (Z.of_nat (low + run))) * pow2 (low + run)
        + (Z.lxor x y / pow2 (low + run + 1)) mod pow2 n * pow2 (low + run + 1)).
      { cbn [eval apply_op]. rewrite times_ok, Er, (parity_ok v ta tb _ _ Aa Bb), Z.lxor_spec. reflexivity. }
      cbv zeta in H'. rewrite split_bits. destruct run as [|run].
      - inversion H'; subst u. rewrite P. change (pow2 0) with 1. rewrite Z.mod_1_r. lia.
      - inversion H'; subst u. cbn [eval apply_op]. cbn [eval apply_op] in P.
        rewrite (run_of_ok v t x y low (S run) E Z0). lia. }
    destruct tb as [[|p|p]|z|o c d]; try (eapply STEP; [reflexivity|exact H]).
    replace (run + S n)%nat with (S run + n)%nat by lia. apply IH; auto.
    intros j J. destruct (Nat.eq_dec j run) as [->|N]; [|apply Z0; lia].
    cbn in Bb. now destruct (Z.testbit y (Z.of_nat (low + run))).
Qed.

Lemma bits_of_ok z w : bits_of z = Some w -> 0 < z <= pow2 w.
Proof.
  unfold bits_of. destruct (_ && _) eqn:E; try discriminate. intro H. inversion H; subst.
  apply andb_true_iff in E. destruct E as [E _]. apply Z.ltb_lt in E. split; auto. unfold pow2.
  rewrite Z2Nat.id by apply Z.log2_up_nonneg. destruct (Z.eq_dec z 1) as [->|]; [cbn; lia|].
  apply Z.log2_up_spec. lia.
Qed.
Lemma land_below x m w : 0 <= m < pow2 w -> 0 <= Z.land x m < pow2 w.
Proof.
  intro H. unfold pow2 in *.
  replace (Z.land x m) with (Z.land x m mod 2 ^ Z.of_nat w); [apply Z.mod_pos_bound; lia|].
  rewrite <- Z.land_ones by lia. rewrite <- Z.land_assoc. f_equal.
  rewrite Z.land_ones by lia. apply Z.mod_small. lia.
Qed.
Lemma evident_ok v e w : evident e = Some w -> 0 <= value L v e < pow2 w.
Proof.
  destruct e; cbn [evident]; try discriminate.
  - destruct (0 <=? z) eqn:E; try discriminate. intro H. apply bits_of_ok in H. cbn. apply Z.leb_le in E. lia.
  - destruct o; try discriminate. destruct e2; try discriminate. intro H. apply bits_of_ok in H. cbn [value apply_op floor rem].
    pose proof (Z.mod_pos_bound (value L v e1) z). lia.
  - destruct (0 <=? m) eqn:E; try discriminate. intro H. apply bits_of_ok in H. apply Z.leb_le in E.
    cbn [value]. apply land_below. lia.
Qed.
Lemma width_ok v e o w l : width L e o = Some (w, l) ->
  (forall t k, o = Some (t, k) -> all floor v k -> number v t = value L v e) ->
  all floor v l -> 0 <= value L v e < pow2 w.
Proof.
  unfold width. intros H T A. destruct (evident e) as [w'|] eqn:E.
  - inversion H; subst. now apply evident_ok.
  - destruct o as [[t k]|]; try discriminate. destruct (fold_numbers _) as [z| |]; try discriminate.
    destruct (bits_of z) as [w'|]; try discriminate. inversion H; subst.
    apply Forall_app in A. destruct A as [A1 A2]. rewrite <- (T t k eq_refl A1).
    rewrite !Forall_cons_iff in A2. cbn in A2. lia.
Qed.
Lemma xor_term_ok v a b x y w l t k : xor_term a b w l = Some (t, k) ->
  (forall u m, as_term a = Some (u, m) -> all floor v m -> number v u = x) ->
  bit_is v x (as_bit a) -> bit_is v y (as_bit b) -> (all floor v l -> 0 <= y < pow2 w) ->
  all floor v k -> number v t = Z.lxor x y.
Proof.
  unfold xor_term. intros H T A B Y K. destruct (as_term a) as [[u m]|] eqn:E; try discriminate.
  destruct (xor_bits _ _ _ _ _ _) as [r|] eqn:X; try discriminate. inversion H; subst.
  apply Forall_app in K. destruct K as [K1 K2]. specialize (T u m eq_refl K1). specialize (Y K2).
  apply (xor_bits_ok v u _ _ x y T A B) in X; [|lia].
  cbn [eval apply_op]. rewrite times_ok, over_ok, X, T. change (pow2 0) with 1.
  rewrite Z.div_1_r, Z.mul_1_r, Nat.add_0_l.
  assert (D : x / pow2 w = Z.lxor x y / pow2 w).
  { unfold pow2 in *. rewrite <- !Z.shiftr_div_pow2 by lia. rewrite Z.shiftr_lxor.
    rewrite (Z.shiftr_div_pow2 y) by lia. rewrite (Z.div_small y) by lia. now rewrite Z.lxor_0_r. }
  rewrite D. pose proof (pow2_pos w). rewrite (Z.div_mod (Z.lxor x y) (pow2 w)) at 3 by lia. ring.
Qed.

Definition spelling_ok (v : valuation) (e : expr) (s : spelling) : Prop :=
  (forall t l, as_term s = Some (t, l) -> all floor v l -> number v t = value L v e)
  /\ bit_is v (value L v e) (as_bit s).
Lemma plainly_ok v e o : (forall t l, o = Some (t, l) -> all floor v l -> number v t = value L v e) ->
  spelling_ok v e (plainly o).
Proof. intro H. split; [exact H|]. cbn. now apply a_bit_ok. Qed.
Lemma two_ok v f a b x y (g : Z -> Z -> Z) t l : two f a b = Some (t, l) ->
  (forall t l, as_term a = Some (t, l) -> all floor v l -> number v t = x) ->
  (forall t l, as_term b = Some (t, l) -> all floor v l -> number v t = y) ->
  (forall t u, number v (f t u) = g (number v t) (number v u)) ->
  all floor v l -> number v t = g x y.
Proof.
  unfold two. intros H A B F Q. destruct (as_term a) as [[ta la]|]; try discriminate.
  destruct (as_term b) as [[tb lb]|]; try discriminate. inversion H; subst.
  apply Forall_app in Q. destruct Q. rewrite F, (A ta la), (B tb lb); auto.
Qed.
Lemma spelled_ok v e : spelling_ok v e (spelled L e).
Proof.
  induction e; cbn [spelled].
  - apply plainly_ok. intros t l H _. inversion H; subst. reflexivity.
  - split; cbn [as_term as_bit].
    + intros t l H _. inversion H; subst. reflexivity.
    + intros k t H. inversion H; subst. reflexivity.
  - destruct IHe1 as [T1 B1], IHe2 as [T2 B2].
    assert (T : forall t l, two (Op o) (spelled L e1) (spelled L e2) = Some (t, l) ->
                all floor v l -> number v t = value L v (Calc o e1 e2)).
    { intros t l H A. cbn [value]. eapply (two_ok v (Op o) _ _ _ _ (apply_op floor o)); eauto. }
    split; cbn [as_term as_bit]; [exact T|]. pose proof (a_bit_ok v _ _ T) as PB.
    intros k t H.
    destruct o; try (eapply PB; exact H); destruct e2; try (eapply PB; exact H);
      destruct (log2_of z) as [j|] eqn:J; try (eapply PB; exact H); apply log2_of_ok in J; subst z;
      cbn [value apply_op floor quo rem].
    + rewrite (B1 _ _ H). unfold pow2. rewrite Z.div_pow2_bits by lia.
      now replace (Z.of_nat k + Z.of_nat j) with (Z.of_nat (k + j)) by lia.
    + unfold pow2. destruct (Nat.ltb_spec k j).
      * rewrite (B1 _ _ H). now rewrite Z.mod_pow2_bits_low by lia.
      * inversion H; subst. rewrite Z.mod_pow2_bits_high by lia. reflexivity.
  - destruct IHe1 as [T1 B1], IHe2 as [T2 B2]. apply plainly_ok. intros t l H A. cbn [value].
    eapply (two_ok v ceiling _ _ _ _ (fun x y => (x + (y - 1)) / y)); eauto.
  - destruct IHe1 as [T1 B1], IHe2 as [T2 B2]. split; cbn [as_term as_bit].
    + intros t l H A. cbn [value].
      assert (AB : forall w m, width L e2 (as_term (spelled L e2)) = Some (w, m) ->
        xor_term (spelled L e1) (spelled L e2) w m = Some (t, l) -> number v t = Z.lxor (value L v e1) (value L v e2)).
      { intros w m Q X. eapply xor_term_ok; eauto. eapply width_ok; eauto. }
      assert (BA : forall w m, width L e1 (as_term (spelled L e1)) = Some (w, m) ->
        xor_term (spelled L e2) (spelled L e1) w m = Some (t, l) -> number v t = Z.lxor (value L v e1) (value L v e2)).
      { intros w m Q X. rewrite Z.lxor_comm. eapply xor_term_ok; eauto. eapply width_ok; eauto. }
      destruct (width L e2 _) as [[w m]|] eqn:Q2; destruct (width L e1 _) as [[w' m']|] eqn:Q1; try discriminate;
        try destruct (Nat.leb w w'); eauto.
    + intros k t H. destruct (as_bit (spelled L e1) k) as [t1|] eqn:E1; try discriminate.
      destruct (as_bit (spelled L e2) k) as [t2|] eqn:E2; try discriminate. inversion H; subst.
      cbn [value]. rewrite Z.lxor_spec. apply parity_ok; eauto.
  - destruct IHe as [T B]. split; cbn [as_term as_bit]; [discriminate|].
    intros k t H. cbn [value]. rewrite Z.land_spec. destruct (Z.testbit m _).
    + rewrite andb_true_r. eauto.
    + rewrite andb_false_r. inversion H; subst. reflexivity.
  - destruct IHe1 as [T1 B1], IHe2 as [T2 B2]. apply plainly_ok. intros t l H A. cbn [value].
    eapply (two_ok v (fun t u => Op OAdd (Op OMul t (extent L e2)) u) _ _ _ _ (fun x y => x * number v (extent L e2) + y)); eauto.
  - exact IHe1.
Qed.
Lemma spell_ok v e t l : spell L e = Some (t, l) -> all floor v l -> number v t = value L v e.
Proof. apply spelled_ok. Qed.
Lemma spell_conditions_ok v l : forall fs, spell_conditions L l = Some fs ->
  (all floor v fs <-> Forall (condition L v) l).
Proof.
  induction l as [|[[[r n] a] b] l IH]; cbn [spell_conditions]; intros fs H.
  - inversion H; subst. split; constructor.
  - destruct (spell L a) as [[t [|]]|] eqn:Ea; try discriminate.
    destruct (spell L b) as [[u [|]]|] eqn:Eb; try discriminate.
    destruct (spell_conditions L l) as [gs|]; try discriminate. inversion H; subst.
    specialize (IH gs eq_refl). unfold all in *. rewrite !Forall_cons_iff, IH.
    pose proof (spell_ok v a t [] Ea (Forall_nil _)) as Va.
    pose proof (spell_ok v b u [] Eb (Forall_nil _)) as Vb.
    cbn [condition]. destruct r, n; cbn [holds]; rewrite Va, Vb; tauto.
Qed.
Lemma spell_parts_ok v l : forall ts ks, spell_parts L l = Some (ts, ks) -> all floor v ks ->
  Forall (fun p => 0 <= number v (fst p) < number v (snd p)) ts ->
  Forall (fun e => 0 <= value L v e < number v (extent L e)) l.
Proof.
  induction l as [|e l IH]; cbn [spell_parts]; intros ts ks H K A; [constructor|].
  destruct (spell L e) as [[t m]|] eqn:E; try discriminate.
  destruct (spell_parts L l) as [[k n]|]; try discriminate. inversion H; subst.
  apply Forall_app in K. destruct K as [K1 K2].
  apply Forall_cons_iff in A. destruct A as [A1 A2]. cbn in A1.
  rewrite (spell_ok v e t m E K1) in A1. constructor; eauto.
Qed.

Lemma all_app v l k : all floor v (l ++ k) <-> all floor v l /\ all floor v k.
Proof. apply Forall_app. Qed.
Lemma bounds_ok v t h : all floor v (bounds t h) <-> 0 <= number v t < number v h.
Proof. unfold all, bounds. rewrite !Forall_cons_iff. cbn. intuition. Qed.
Lemma inside_ok v b : all floor v (inside b) <-> within v b.
Proof.
  unfold within. induction b as [|a b IH]; cbn [inside flat_map].
  - split; constructor.
  - fold (inside b). rewrite all_app, bounds_ok, Forall_cons_iff, IH. cbn. tauto.
Qed.

Variable W : spoken.
Variable HW : speak L = Some W.

Lemma range_ok v : all floor v (range W) <-> in_range L v.
Proof.
  pose proof HW as H. unfold speak in H. destruct (negb _); try discriminate.
  destruct (spell_conditions L _) as [cs|] eqn:C; try discriminate.
  destruct (spell L (start L)) as [[t [|]]|]; try discriminate.
  destruct (spell L (coordinates L)) as [[u l]|]; try discriminate.
  destruct (spell_parts L _) as [[ps k]|]; try discriminate. inversion H; subst. cbn [range].
  rewrite all_app. unfold in_range. rewrite (spell_conditions_ok v _ _ C).
  unfold all. rewrite Forall_map. cbn. tauto.
Qed.
Lemma first_ok v : number v (first W) = value L v (start L).
Proof.
  pose proof HW as H. unfold speak in H. destruct (negb _); try discriminate.
  destruct (spell_conditions L _) as [cs|]; try discriminate.
  destruct (spell L (start L)) as [[t [|]]|] eqn:E; try discriminate.
  destruct (spell L (coordinates L)) as [[u l]|]; try discriminate.
  destruct (spell_parts L _) as [[ps k]|]; try discriminate. inversion H; subst. cbn [first].
  eapply spell_ok; eauto. constructor.
Qed.
Lemma place_ok v : all floor v (needs W) -> number v (place W) = offset L v.
Proof.
  pose proof HW as H. unfold speak in H. destruct (negb _); try discriminate.
  destruct (spell_conditions L _) as [cs|]; try discriminate.
  destruct (spell L (start L)) as [[t [|]]|] eqn:E; try discriminate.
  destruct (spell L (coordinates L)) as [[u l]|] eqn:F; try discriminate.
  destruct (spell_parts L _) as [[ps k]|]; try discriminate. inversion H; subst. cbn [place needs eval apply_op].
  intro A. apply Forall_app in A. destruct A as [A _].
  unfold offset. rewrite (spell_ok v _ _ _ E (Forall_nil _)), (spell_ok v _ _ _ F A). reflexivity.
Qed.
Lemma size_ok v : number v (size W) = number v (extent L (coordinates L)).
Proof.
  pose proof HW as H. unfold speak in H. destruct (negb _); try discriminate.
  destruct (spell_conditions L _) as [cs|]; try discriminate.
  destruct (spell L (start L)) as [[t [|]]|]; try discriminate.
  destruct (spell L (coordinates L)) as [[u l]|]; try discriminate.
  destruct (spell_parts L _) as [[ps k]|]; try discriminate. inversion H; subst. reflexivity.
Qed.
Lemma inner_ok v : all floor v (needs W) -> all floor v (inner W) ->
  Forall (fun e => 0 <= value L v e < number v (extent L e)) (parts (coordinates L)).
Proof.
  pose proof HW as H. unfold speak in H. destruct (negb _); try discriminate.
  destruct (spell_conditions L _) as [cs|]; try discriminate.
  destruct (spell L (start L)) as [[t [|]]|]; try discriminate.
  destruct (spell L (coordinates L)) as [[u l]|]; try discriminate.
  destruct (spell_parts L _) as [[ps k]|] eqn:E; try discriminate. inversion H; subst.
  unfold inner. cbn [pieces needs]. intros N A. apply Forall_app in N. destruct N as [_ N].
  apply (spell_parts_ok v _ _ _ E N). clear - A. induction ps as [|p ps IH]; [constructor|]. cbn [flat_map] in A.
  apply all_app in A. destruct A as [A1 A2]. apply bounds_ok in A1. constructor; auto.
Qed.
Lemma slot_bounds_ok v s : all floor v (slot_bounds W s) <-> is_slot L v (v s).
Proof.
  unfold slot_bounds, all, is_slot. rewrite !Forall_cons_iff. cbn. rewrite first_ok, size_ok.
  intuition.
Qed.

Lemma index_name_ok x : index_name L x = true <-> is_axis L x.
Proof.
  unfold index_name, is_axis. rewrite existsb_exists. split.
  - intros (y & I & E). apply Pos.eqb_eq in E. congruence.
  - intro I. exists x. split; auto. apply Pos.eqb_refl.
Qed.
Lemma same_shape_agree v w : same_shape L v w <-> agree_off (index_name L) v w.
Proof.
  unfold same_shape, agree_off. split; intros H x X; apply H.
  - intro A. apply index_name_ok in A. congruence.
  - destruct (index_name L x) eqn:E; auto. apply index_name_ok in E. contradiction.
Qed.
Lemma names_eqb_eq l : forall k, names_eqb l k = true -> l = k.
Proof.
  induction l as [|x l IH]; destruct k as [|y k]; simpl; try discriminate; auto.
  intro H. apply andb_true_iff in H. destruct H as [H1 H2]. apply Pos.eqb_eq in H1. f_equal; auto.
Qed.

Section Slot.
Variable s : positive.
Variable HN : well_named L W s = true.

Lemma no_index_slot : index_name L s = false.
Proof.
  pose proof HN as H. unfold well_named in H. repeat (apply andb_true_iff in H; destruct H as [H ?]).
  now apply negb_true_iff in H.
Qed.

Definition set (v : valuation) (z : Z) : valuation := update v s z.
Lemma set_agree v z : agree_off (Pos.eqb s) (set v z) v.
Proof. intros x X. unfold set, update. rewrite Pos.eqb_sym, X. reflexivity. Qed.
Lemma set_same v z : set v z s = z.
Proof. unfold set, update. now rewrite Pos.eqb_refl. Qed.
Lemma taken_agree v w z y : same_shape L v w -> agree_off (taken L s) (set v z) (set w y).
Proof.
  intros A x X. unfold taken in X. apply orb_false_iff in X. destruct X as [X1 X2].
  unfold set, update. rewrite X2. apply same_shape_agree in A. auto.
Qed.
Lemma taken_set_agree v w z : same_shape L v w -> agree_off (taken L s) (set v z) w.
Proof.
  intros A x X. unfold taken in X. apply orb_false_iff in X. destruct X as [X1 X2].
  unfold set, update. rewrite X2. apply same_shape_agree in A. auto.
Qed.
Lemma set_index_agree v w z : same_shape L v w -> agree_off (index_name L) (set v z) (set w z).
Proof.
  intros A x X. unfold set, update. destruct (Pos.eqb x s); auto. apply same_shape_agree in A. auto.
Qed.

Lemma named_parts :
  forallb (fun a => avoids (taken L s) (snd a)) (axes L) = true /\
  avoids (taken L s) (first W) = true /\ avoids (taken L s) (size W) = true /\
  avoids (Pos.eqb s) (place W) = true /\
  forallb (formula_avoids (Pos.eqb s)) (range W) = true /\
  forallb (formula_avoids (Pos.eqb s)) (needs W) = true /\
  forallb (fun p => avoids (Pos.eqb s) (fst p) && avoids (Pos.eqb s) (snd p)) (pieces W) = true.
Proof.
  pose proof HN as H. unfold well_named in H. repeat (apply andb_true_iff in H; destruct H as [H ?]).
  rewrite forallb_app in *. repeat match goal with E : _ && _ = true |- _ => apply andb_true_iff in E; destruct E end.
  repeat split; auto.
Qed.

Lemma is_slot_shape v w z : same_shape L v w -> is_slot L v z -> is_slot L w z.
Proof.
  intros A. unfold is_slot. rewrite <- !first_ok, <- !size_ok.
  destruct named_parts as (_ & F & Z0 & _).
  assert (B : agree_off (taken L s) v w).
  { intros x X. unfold taken in X. apply orb_false_iff in X. apply same_shape_agree in A. now apply A. }
  now rewrite (avoids_ok _ v w _ B F), (avoids_ok _ v w _ B Z0).
Qed.
Lemma is_slot_set v z y : is_slot L (set v y) z <-> is_slot L v z.
Proof.
  unfold is_slot. rewrite <- !first_ok, <- !size_ok.
  destruct named_parts as (_ & F & Z0 & _).
  assert (B : agree_off (taken L s) (set v y) v) by (apply taken_set_agree; intros x _; reflexivity).
  now rewrite (avoids_ok _ _ _ _ B F), (avoids_ok _ _ _ _ B Z0).
Qed.
Lemma within_set v z b : forallb (fun a => avoids (taken L s) (snd a)) b = true ->
  (forall a, In a b -> is_axis L (fst a)) -> within v b -> within (set v z) b.
Proof.
  intros A X. unfold within. rewrite !Forall_forall. intros H a I. specialize (H a I).
  rewrite forallb_forall in A. specialize (A a I).
  assert (B : agree_off (taken L s) (set v z) v) by (apply taken_set_agree; intros x _; reflexivity).
  rewrite (avoids_ok _ _ _ _ B A).
  replace (set v z (fst a)) with (v (fst a)); auto. symmetry. apply set_agree.
  specialize (X a I). apply index_name_ok in X. destruct (Pos.eqb_spec s (fst a)); auto.
  pose proof no_index_slot. congruence.
Qed.

(** [element] and [encode]. *)
Lemma enters_place th b more v : enters W s b more th = true -> true_as_written th ->
  forallb (fun a => avoids (taken L s) (snd a)) b = true ->
  (forall a, In a b -> is_axis L (fst a)) ->
  in_range L v -> within v b ->
  is_slot L v (offset L v) /\ all floor (set v (offset L v)) more /\
  all floor v (needs W).
Proof.
  intros H T HB HA R I. destruct named_parts as (_ & _ & _ & P & Ra & Ne & _).
  set (v' := set v (number v (place W))).
  assert (E : number v' (place W) = number v (place W)) by (eapply avoids_ok; eauto; apply set_agree).
  assert (G : all floor v' (needs W ++ slot_bounds W s ++ more)).
  { apply (says_ok _ _ _ _ v' H T).
    - cbn. intros x t X. destruct (Pos.eqb_spec x s); try discriminate. inversion X; subst.
      rewrite E. apply set_same.
    - apply all_app. split.
      + apply range_ok in R. eapply all_avoids_ok; [|exact Ra|exact R]. intros x X. symmetry. now apply set_agree.
      + apply inside_ok. now apply within_set. }
  rewrite !all_app in G. destruct G as (G1 & G2 & G3).
  assert (N : all floor v (needs W)) by (eapply all_avoids_ok; [apply set_agree|exact Ne|exact G1]).
  assert (O : number v (place W) = offset L v) by (apply place_ok; exact N).
  apply slot_bounds_ok in G2. unfold v' in *. rewrite O, set_same in G2. rewrite O in G3.
  split; auto. now apply is_slot_set in G2.
Qed.
Lemma enters_ok th b more v : enters W s b more th = true -> true_as_written th ->
  forallb (fun a => avoids (taken L s) (snd a)) b = true ->
  (forall a, In a b -> is_axis L (fst a)) ->
  in_range L v -> within v b ->
  is_slot L v (offset L v) /\ all floor (set v (offset L v)) more.
Proof.
  intros. assert (X := enters_place th b more v). intuition.
Qed.
Lemma axes_named a : In a (axes L) -> is_axis L (fst a).
Proof. intro I. unfold is_axis. apply in_map_iff. eauto. Qed.
Lemma inner_set v z : all floor (set v z) (inner W) -> all floor v (inner W).
Proof.
  destruct named_parts as (_ & _ & _ & _ & _ & _ & P). rewrite forallb_forall in P.
  unfold inner, all. rewrite !Forall_forall. intros H f I. specialize (H f I).
  apply (formula_avoids_ok (Pos.eqb s) (set v z) v); auto using set_agree.
  apply in_flat_map in I. destruct I as (p & J & K). specialize (P p J). apply andb_true_iff in P.
  destruct P as [P1 P2]. cbn in K. destruct K as [<-|[<-|[]]]; cbn; now rewrite ?P1, ?P2.
Qed.
End Slot.

Section Inverse.
Variable I : inverse.
Let s := slot_name I.
Variable HN : well_named L W s = true.
Variable HI : well_named_inverse L W I = true.

Lemma inverse_parts :
  map fst (found I) = map fst (axes L) /\ map fst (box I) = map fst (axes L) /\
  (forall a, In a (found I) -> find_slot (found I) (fst a) = Some (snd a)) /\
  forallb (fun a => avoids (index_name L) (snd a)) (found I) = true /\
  forallb (formula_avoids (index_name L)) (gaps I) = true /\
  forallb (fun a => avoids (taken L s) (snd a)) (box I) = true /\
  forallb (formula_avoids (taken L s)) (range W) = true.
Proof.
  pose proof HI as H. unfold well_named_inverse in H. repeat (apply andb_true_iff in H; destruct H as [H ?]).
  repeat match goal with E : names_eqb _ _ = true |- _ => apply names_eqb_eq in E end.
  repeat split; auto.
  intros a J. match goal with E : forallb _ (found I) = true, E' : forallb (fun a => match _ with _ => _ end) _ = true |- _ =>
    rewrite forallb_forall in E'; specialize (E' a J) end.
  destruct (find_slot (found I) (fst a)); try discriminate.
  match goal with E : term_eqb _ _ = true |- _ => apply term_eqb_eq in E end. congruence.
Qed.
Lemma box_named a : In a (box I) -> is_axis L (fst a).
Proof.
  intro J. destruct inverse_parts as (_ & B & _). unfold is_axis. rewrite <- B. apply in_map_iff. eauto.
Qed.
Lemma found_named a : In a (found I) -> is_axis L (fst a).
Proof.
  intro J. destruct inverse_parts as (B & _). unfold is_axis. rewrite <- B. apply in_map_iff. eauto.
Qed.

Lemma range_shape v w : same_shape L v w -> in_range L v -> in_range L w.
Proof.
  intros A R. apply range_ok in R. apply range_ok. destruct inverse_parts as (_ & _ & _ & _ & _ & _ & F).
  eapply all_avoids_ok; [|exact F|exact R]. intros x X. unfold taken in X. apply orb_false_iff in X.
  apply same_shape_agree in A. now apply A.
Qed.
Lemma no_gap_shape v w z : same_shape L v w -> no_gap I v z -> no_gap I w z.
Proof.
  intros A. unfold no_gap. destruct inverse_parts as (_ & _ & _ & _ & G & _).
  apply all_avoids_ok with (no := index_name L); auto. now apply set_index_agree.
Qed.
Lemma found_shape v w z : same_shape L v w -> found_index I v z = found_index I w z.
Proof.
  intro A. unfold found_index. apply map_ext_in. intros a J. f_equal.
  destruct inverse_parts as (_ & _ & _ & F & _). rewrite forallb_forall in F.
  apply (avoids_ok (index_name L)); auto. now apply set_index_agree.
Qed.
Lemma is_read_ok v z : all floor (set s v z) (is_read I) ->
  no_gap I v z /\ is_index v (found_index I v z).
Proof.
  unfold is_read. rewrite all_app. intros [A B]. split; [exact B|].
  unfold is_index, found_index. apply Forall_map. unfold all in A. rewrite Forall_map in A.
  rewrite Forall_forall in *. intros a J. specialize (A a J). cbn in A. cbn.
  unfold at_slot. fold s. change (update v s z) with (set s v z). rewrite A. symmetry.
  apply set_agree. apply found_named in J. apply index_name_ok in J.
  destruct (Pos.eqb_spec s (fst a)); auto. pose proof (no_index_slot s HN). congruence.
Qed.

(** The index that is found at a slot, as a valuation. *)
Definition read (v : valuation) (z : Z) : valuation :=
  fun x => if index_name L x then number (set s v z) (index_term I x) else v x.
Lemma read_shape v z : same_shape L v (read v z).
Proof.
  apply same_shape_agree. intros x X. unfold read. now rewrite X.
Qed.
Lemma read_found v z a : In a (found I) -> read v z (fst a) = number (set s v z) (snd a).
Proof.
  intro J. unfold read. pose proof (found_named a J) as N. apply index_name_ok in N. rewrite N.
  unfold index_term. destruct inverse_parts as (_ & _ & F & _). now rewrite (F a J).
Qed.
(** Terms of the layout with [index_term] for indices speak of the index that is found. *)
Lemma subst_read v z t : avoids (Pos.eqb s) t = true ->
  number (set s v z) (subst (index_term I) t) = number (read v z) t.
Proof.
  intro A. rewrite subst_ok. eapply avoids_ok; [|exact A]. intros x X. unfold read.
  destruct (index_name L x) eqn:N; auto. unfold index_term.
  destruct (find_slot (found I) x) as [t0|] eqn:F.
  - exfalso. assert (J : exists a, In a (found I) /\ fst a = x).
    { clear - F. induction (found I) as [|[y u] l IH]; cbn in F; try discriminate.
      destruct (Pos.eqb_spec x y) as [->|]. exists (y, u). cbn; auto. destruct (IH F) as (a & B & C).
      exists a. cbn; auto. }
    destruct J as (a & B & <-). apply found_named, index_name_ok in B. congruence.
  - cbn. apply set_agree. rewrite Pos.eqb_sym in X. now rewrite Pos.eqb_sym.
Qed.
Lemma subst_read_formula v z f : formula_avoids (Pos.eqb s) f = true ->
  holds floor (set s v z) (subst_formula (index_term I) f) -> holds floor (read v z) f.
Proof.
  intro A. assert (X : holds floor (set s v z) (subst_formula (index_term I) f) <-> holds floor (read v z) f);
    [|tauto]. revert A. induction f; simpl; intro H; try (apply andb_true_iff in H; destruct H as [H1 H2]).
  - now rewrite !subst_read.
  - rewrite IHf1, IHf2; tauto.
  - rewrite IHf1, IHf2; tauto.
  - rewrite IHf1, IHf2; tauto.
  - rewrite IHf; tauto.
Qed.

(** [decode] and [padding]. *)
Lemma returns_ok th given wanted v z : returns W I given wanted th = true -> true_as_written th ->
  in_range L v -> is_slot L v z -> no_gap I v z -> all floor (set s v z) given ->
  all floor (set s v z) wanted /\ offset L (read v z) = z.
Proof.
  intros H T R S G A. destruct (named_parts s HN) as (_ & _ & _ & P & Ra & Ne & _).
  assert (Q : all floor (set s v z)
    (wanted ++ map (subst_formula (index_term I)) (needs W)
     ++ [Rel REq (subst (index_term I) (place W)) (Var (slot_name I))])).
  { apply (says_ok _ _ _ _ (set s v z) H T).
    - cbn. discriminate.
    - rewrite !all_app. repeat split; auto.
      + apply range_ok in R. eapply all_avoids_ok; [|exact Ra|exact R]. intros x X. symmetry. now apply set_agree.
      + fold s. apply slot_bounds_ok. rewrite set_same. now apply is_slot_set. }
  rewrite !all_app in Q. destruct Q as (Q1 & Q2 & Q3). split; auto.
  assert (N : all floor (read v z) (needs W)).
  { unfold all in *. rewrite Forall_map in Q2. rewrite Forall_forall in *. rewrite forallb_forall in Ne.
    intros f J. apply subst_read_formula; auto. }
  rewrite <- (place_ok _ N). apply Forall_cons_iff in Q3. destruct Q3 as [Q3 _]. cbn [holds] in Q3.
  rewrite subst_read in Q3 by auto. rewrite Q3. cbn. fold s. apply set_same.
Qed.

Lemma is_index_read v z w : same_shape L v w -> is_index w (found_index I v z) ->
  forall x, is_axis L x -> w x = read v z x.
Proof.
  intros A X x N. destruct inverse_parts as (F & _). unfold is_axis in N. rewrite <- F in N.
  apply in_map_iff in N. destruct N as (a & <- & J). rewrite (read_found v z a J).
  unfold is_index, found_index in X. rewrite Forall_map, Forall_forall in X. apply (X a J).
Qed.

(** Two elements with one slot are one, because the inverse finds both. *)
Lemma read_injective v w : same_shape L v w -> offset L v = offset L w ->
  is_index v (found_index I v (offset L v)) -> is_index w (found_index I w (offset L w)) ->
  same_index L v w.
Proof.
  intros A E V X x N. rewrite <- E in X. rewrite <- (found_shape v w _ A) in X.
  rewrite (is_index_read v _ v (fun _ _ => eq_refl) V x N). symmetry.
  apply (is_index_read v (offset L v) w A X x N).
Qed.

Lemma zip_high v z b : map fst b = map fst (axes L) ->
  forallb (fun a => avoids (taken L s) (snd a)) b = true ->
  Forall (fun p => 0 <= number (set s v z) (snd (fst p)) < number (set s v z) (snd (snd p)))
    (zip (found I) b) ->
  within (read v z) b.
Proof.
  intros B AV HI'. unfold within. rewrite Forall_forall in *. intros a J.
  destruct inverse_parts as (F & _). assert (E : map fst (found I) = map fst b) by congruence.
  assert (K : exists f, In (f, a) (zip (found I) b) /\ fst f = fst a).
  { clear - E J. revert b E J. induction (found I) as [|f l IH]; destruct b as [|c b]; cbn; intros E J;
      try discriminate; try contradiction. inversion E. destruct J as [->|J].
    - exists f. auto.
    - destruct (IH b H1 J) as (g & G1 & G2). exists g. auto. }
  destruct K as (f & K & N). pose proof (HI' _ K) as HH. cbn in HH.
  assert (Jf : In f (found I)) by (eapply in_zip_l; eauto).
  rewrite <- N, (read_found v z f Jf).
  replace (number (read v z) (snd a)) with (number (set s v z) (snd a)); [lia|].
  rewrite forallb_forall in AV. apply (avoids_ok (taken L s)); auto. apply taken_set_agree. apply read_shape.
Qed.
End Inverse.
End Sound.

Lemma condition_holds_ok L v c : condition_holds L v c = true -> condition L v c.
Proof.
  destruct c as [[[r n] a] b]. unfold condition_holds, condition.
  destruct r, n; intro H; try apply negb_true_iff in H;
    rewrite ?Z.eqb_eq, ?Z.eqb_neq, ?Z.leb_le, ?Z.leb_gt, ?Z.ltb_lt, ?Z.ltb_ge in H; lia.
Qed.
Lemma is_element_ok L v : is_element L v = true -> has_element L.
Proof.
  unfold is_element. intro H. exists v. repeat (apply andb_true_iff in H; destruct H as [H ?]).
  rewrite forallb_forall in *. repeat split; unfold within; apply Forall_forall; intros x I.
  - apply Z.leb_le. auto.
  - apply condition_holds_ok. auto.
  - specialize (H0 x I). apply andb_true_iff in H0. rewrite Z.leb_le, Z.ltb_lt in H0. lia.
Qed.
Lemma existsb_true (p : theorem -> bool) ths : existsb p ths = true -> Forall true_as_written ths ->
  exists th, p th = true /\ true_as_written th.
Proof. intros H T. apply existsb_exists in H. destruct H as (th & I & P). rewrite Forall_forall in T. eauto. Qed.

(** The main theorem: if all theorems are true and [check_packs] finds those that it needs among
    them, the layout packs. *)
Theorem check_packs_sound L example I ths :
  check_packs L example I ths = true -> Forall true_as_written ths ->
  has_element L /\ one_to_one L /\ inverts L I /\ fills_box L I.
Proof.
  unfold check_packs. destruct (speak L) as [W|] eqn:HW; try discriminate. cbv zeta. intros H T.
  apply andb_true_iff in H; destruct H as [H PA]. apply andb_true_iff in H; destruct H as [H DE].
  apply andb_true_iff in H; destruct H as [H SH]. apply andb_true_iff in H; destruct H as [H EN].
  apply andb_true_iff in H; destruct H as [H EL]. apply andb_true_iff in H; destruct H as [H HI].
  apply andb_true_iff in H; destruct H as [EX HN].
  apply existsb_true in PA, DE, SH, EN, EL; auto.
  destruct PA as (pa & PA & Tpa), DE as (de & DE & Tde), SH as (sh & SH & Tsh),
           EN as (en & EN & Ten), EL as (el & EL & Tel).
  set (s := slot_name I) in *.
  destruct (named_parts L W s HN) as (AX & F & SZ & P & Ra & Ne & Pi).
  destruct (inverse_parts L W I HI) as (FA & BA & FS & FV & GA & BX & RS).
  assert (EL1 : forall v, element L v -> is_slot L v (offset L v) /\
            all floor (set s v (offset L v)) (inner W ++ is_read I) /\ all floor v (needs W)).
  { intros v [R X]. apply (enters_place L W HW s HN el (axes L)); auto. intros a J. now apply axes_named. }
  assert (EN1 : forall v, in_box L I v -> is_slot L v (offset L v) /\
            all floor (set s v (offset L v)) (is_read I)).
  { intros v [R X]. apply (enters_ok L W HW s HN en (box I)); auto.
    intros a J. eapply box_named; eauto. }
  assert (EL2 : forall v, element L v -> no_gap I v (offset L v) /\ is_index v (found_index I v (offset L v))).
  { intros v V. destruct (EL1 v V) as (_ & A & _). apply all_app in A. destruct A as [_ A].
    eapply is_read_ok; eauto. }
  assert (EN2 : forall v, in_box L I v -> no_gap I v (offset L v) /\ is_index v (found_index I v (offset L v))).
  { intros v V. destruct (EN1 v V) as [_ A]. eapply is_read_ok; eauto. }
  assert (BIG : forall v, element L v -> in_box L I v).
  { intros v [R X]. split; auto.
    assert (G : all floor v (box_is_larger L I)).
    { apply (says_ok _ _ _ _ v SH Tsh); [cbn; discriminate|]. now apply (range_ok L W HW). }
    clear - G X BA. unfold box_is_larger in G. unfold within in *. revert G X BA.
    generalize (axes L) (box I). intro l. induction l as [|a l IH]; intros [|b k] G X E; cbn in E; try discriminate; constructor.
    - injection E as E1 E2. cbn [zip flat_map] in G. apply all_app in G. destruct G as [G _].
      apply Forall_cons_iff in X. destruct X as [X _]. rewrite E1.
      destruct (same (snd a) (snd b)) eqn:SA.
      + apply (same_ok v) in SA. lia.
      + apply Forall_cons_iff in G. destruct G as [G _]. cbn in G. lia.
    - inversion E. cbn [zip flat_map] in G. apply all_app in G. destruct G as [_ G].
      apply Forall_cons_iff in X. destruct X as [_ X]. apply IH; auto. }
  split; [|split; [|split]].
  - eapply is_element_ok; eauto.
  - split.
    + intros v w z A. eapply is_slot_shape; eauto.
    + intros v V. now apply EL1.
    + intros v V. destruct (EL1 v V) as (_ & A & N). apply all_app in A. destruct A as [A _].
      eapply inner_ok; eauto. eapply inner_set; eauto.
    + intros v w V X S E. eapply read_injective; eauto; [apply EL2|apply EL2]; auto.
  - split; auto; [intros; eapply found_shape; eauto|intros; eapply no_gap_shape; eauto|].
    intros v z R S. split.
    + intros (w & A & E & O). destruct (EL2 w E) as [G X]. rewrite O in *.
      assert (A' : same_shape L w v) by (intros x N; symmetry; auto).
      split; [eapply no_gap_shape; eauto|].
      rewrite (found_shape L W I HI v w z A).
      destruct E as [_ E].
      assert (EV : forall a, In a (axes L) -> number w (snd a) = number v (snd a)).
      { intros a J. rewrite forallb_forall in AX. apply (avoids_ok (taken L s)); auto.
        intros x N. unfold taken in N. apply orb_false_iff in N. apply same_shape_agree in A'. now apply A'. }
      clear - FA E X EV. unfold within, is_index in *. unfold found_index in *.
      revert FA E X EV. generalize (found I) (axes L). intro l.
      induction l as [|f l IH]; intros [|a k] FA E X EV; cbn in *; try discriminate; constructor.
      * cbn. injection FA as N _. apply Forall_cons_iff in E, X. destruct E as [E _], X as [X _].
        cbn in X. rewrite <- EV by auto. rewrite <- X, N. exact E.
      * injection FA as _ FA. apply Forall_cons_iff in E, X. apply IH; try tauto. auto.
    + intros [G B].
      assert (B' : Forall (fun p => 0 <= number (set s v z) (snd (fst p)) < number (set s v z) (snd (snd p)))
                     (zip (found I) (axes L))).
      { apply Forall_forall. intros [f a] J. rewrite Forall_forall in B. cbn.
        specialize (B ((fst f, number (at_slot I v z) (snd f)), a)). cbn in B.
        replace (number (set s v z) (snd a)) with (number v (snd a)).
        - apply B. unfold found_index. clear - J. revert J. generalize (axes L). induction (found I) as [|g l IH];
            intros [|c k] J; cbn in *; try contradiction. destruct J as [J|J]; [left; congruence|right; auto].
        - symmetry. rewrite forallb_forall in AX. apply (avoids_ok (taken L s)).
          + apply taken_set_agree. intros x _. reflexivity.
          + apply AX. eapply in_zip_r; eauto. }
      assert (HIGH : all floor (set s v z) (inverse_high L I)).
      { unfold inverse_high, all. rewrite Forall_map. eapply Forall_impl; [|exact B']. cbn. intros p Y. apply Y. }
      destruct (returns_ok L W HW I HN HI pa _ _ v z PA Tpa R S G HIGH) as [_ O].
      exists (read L I v z). split; [apply read_shape|]. split; auto. split.
      * eapply range_shape; eauto. apply read_shape.
      * eapply zip_high; eauto.
  - split; auto.
    + intros v w a A J. rewrite forallb_forall in BX. apply (avoids_ok (taken L (slot_name I))); auto.
      intros x X. unfold taken in X. apply orb_false_iff in X. apply same_shape_agree in A. now apply A.
    + intros v V. destruct (EN1 v V) as [A _]. destruct (EN2 v V) as [B _]. auto.
    + intros v w V X S E. eapply read_injective; eauto; [apply EN2|apply EN2]; auto.
    + intros v z R S G.
      destruct (returns_ok L W HW I HN HI de _ _ v z DE Tde R S G (Forall_nil _)) as [Q O].
      exists (read L I v z). split; [apply read_shape|]. split; auto. split.
      * eapply range_shape; eauto. apply read_shape.
      * eapply zip_high; eauto. clear - Q. unfold inverse_bounds in Q.
        induction (zip (found I) (box I)) as [|p l IH]; constructor; cbn [flat_map] in Q;
          apply all_app in Q; destruct Q as [Q1 Q2]; auto. now apply bounds_ok in Q1.
Qed.

Lemma second_in l x : In x (map fst l) -> In (second l x) (map snd l).
Proof.
  unfold second. induction l as [|p l IH]; cbn; intro I; [contradiction|].
  destruct (Pos.eqb_spec x (fst p)); auto. right. apply IH. destruct I; congruence || auto.
Qed.
Lemma second_out l x : ~ In x (map fst l) -> second l x = x.
Proof.
  unfold second. induction l as [|p l IH]; cbn; intro I; auto.
  destruct (Pos.eqb_spec x (fst p)); [subst; tauto|]. apply IH. tauto.
Qed.
Theorem check_places_sound L example s s2 other ths :
  check_places L example s s2 other ths = true -> Forall true_as_written ths -> places L.
Proof.
  unfold check_places. destruct (speak L) as [W|] eqn:HW; try discriminate. cbv zeta.
  set (fresh := fun x => Pos.eqb x s || Pos.eqb x s2 || existsb (Pos.eqb x) (map snd other)).
  set (given := range W ++ inside (axes L)).
  intros H T.
  apply andb_true_iff in H; destruct H as [H TW]. apply andb_true_iff in H; destruct H as [H EL].
  apply andb_true_iff in H; destruct H as [H AF]. apply andb_true_iff in H; destruct H as [H PF].
  apply andb_true_iff in H; destruct H as [H GF]. apply andb_true_iff in H; destruct H as [H N2].
  apply andb_true_iff in H; destruct H as [H N1]. apply andb_true_iff in H; destruct H as [H NS].
  apply andb_true_iff in H; destruct H as [H BK]. apply andb_true_iff in H; destruct H as [H NA].
  apply andb_true_iff in H; destruct H as [EX HN].
  apply existsb_true in TW, EL; auto. destruct TW as (tw & TW & Ttw), EL as (el & EL & Tel).
  apply names_eqb_eq in NA. rewrite forallb_forall in BK, AF.
  destruct (named_parts L W s HN) as (AX & _).
  assert (EL1 : forall v, element L v -> is_slot L v (offset L v) /\
            all floor (set s v (offset L v)) (inner W) /\ all floor v (needs W)).
  { intros v [R X]. apply (enters_place L W HW s HN el (axes L)); auto. intros a J. now apply axes_named. }
  split; [eapply is_element_ok; eauto|]. split.
  - intros v w z A. eapply is_slot_shape; eauto.
  - intros v V. now apply EL1.
  - intros v V. destruct (EL1 v V) as (_ & A & N). eapply inner_ok; eauto. eapply inner_set; eauto.
  - intros v w V X S E. destruct (EL1 v V) as (_ & _ & PV), (EL1 w X) as (_ & _ & PX).
    apply (place_ok L W HW) in PV, PX.
    set (back := map (fun p : positive * positive => (snd p, fst p)) other) in *.
    set (u := fun x => if Pos.eqb x s || Pos.eqb x s2 then offset L v else
                       if existsb (Pos.eqb x) (map snd other) then w (second back x) else v x).
    assert (UV : agree_off fresh u v).
    { intros x F. unfold fresh in F. apply orb_false_iff in F. destruct F as [F1 F2]. unfold u. now rewrite F1, F2. }
    assert (UA : forall a, In a (map fst (axes L)) -> u (second other a) = w a).
    { intros a J. unfold u.
      assert (I2 : In (second other a) (map snd other)) by (apply second_in; congruence).
      assert (B2 : existsb (Pos.eqb (second other a)) (map snd other) = true).
      { apply existsb_exists. exists (second other a). split; auto. apply Pos.eqb_refl. }
      assert (D1 : Pos.eqb (second other a) s = false).
      { apply negb_true_iff in N1. destruct (Pos.eqb_spec (second other a) s) as [Q|]; auto. rewrite Q in B2. congruence. }
      assert (D2 : Pos.eqb (second other a) s2 = false).
      { apply negb_true_iff in N2. destruct (Pos.eqb_spec (second other a) s2) as [Q|]; auto. rewrite Q in B2. congruence. }
      rewrite D1, D2, B2. cbn. f_equal. specialize (BK a J). now apply Pos.eqb_eq in BK. }
    assert (UW : agree_off fresh (fun x => u (second other x)) w).
    { intros x F. destruct (in_dec Pos.eq_dec x (map fst (axes L))) as [J|J]; auto.
      rewrite second_out by congruence. rewrite (UV x F). apply S. exact J. }
    assert (GIV : forall y, element L y -> all floor y given).
    { intros y [R Y]. apply all_app. split; [now apply (range_ok L W HW)|now apply inside_ok]. }
    assert (Q : all floor u (map (fun a => Rel REq (Var (fst a)) (renamed other (fst a))) (axes L))).
    { apply (says_ok _ _ _ _ u TW Ttw).
      - cbn. intros x t Z0. destruct (Pos.eqb_spec x s) as [->|].
        + inversion Z0; subst. rewrite (avoids_ok fresh u v _ UV PF), PV. unfold u. now rewrite Pos.eqb_refl.
        + destruct (Pos.eqb_spec x s2) as [->|]; try discriminate. inversion Z0; subst.
          rewrite subst_ok. cbn [renamed eval]. unfold renamed. cbn [eval].
          rewrite (avoids_ok fresh _ w _ UW PF), PX, <- E. unfold u. rewrite Pos.eqb_refl. now rewrite orb_true_r.
      - fold given. rewrite !all_app. repeat split.
        + eapply all_avoids_ok; [|exact GF|apply GIV; exact V]. intros x F. symmetry. now apply UV.
        + unfold all. rewrite Forall_map. pose proof (GIV w X) as GW. unfold all in GW.
          rewrite Forall_forall in *. rewrite forallb_forall in GF. intros f J.
          apply subst_formula_ok. unfold renamed. cbn [eval].
          apply (formula_avoids_ok fresh _ w f UW (GF f J)). auto.
        + constructor; [|constructor]. cbn. unfold u. rewrite !Pos.eqb_refl. now rewrite orb_true_r. }
    intros a J. unfold all in Q. rewrite Forall_map, Forall_forall in Q.
    unfold is_axis in J. pose proof J as J'. apply in_map_iff in J. destruct J as (p & <- & J).
    specialize (Q p J). cbn in Q. rewrite (UA _ J') in Q. rewrite <- Q. symmetry. apply UV.
    apply negb_true_iff. exact (AF p J).
Qed.

(** From end to end: what the program evaluates, and what it prints. *)
Lemma written_of_items l : Forall true_item l -> Forall true_as_written (map item_theorem l).
Proof. intro H. apply Forall_map. eapply Forall_impl; [|exact H]. intros i Q. apply Q. Qed.
Lemma packs_of_check L example I ths : check_packs L example I ths = true ->
  Forall true_as_written ths -> packs L /\ (gaps I = [] -> packs_without_gaps L).
Proof.
  intros H T. pose proof (check_packs_sound L example I ths H T). unfold packs, packs_without_gaps.
  intuition eauto.
Qed.
Theorem confirmed_packs oracle items L example I :
  confirm oracle library items = true ->
  check_packs L example I (map item_theorem items) = true ->
  packs L /\ (gaps I = [] -> packs_without_gaps L).
Proof.
  intros C H. eapply packs_of_check; [exact H|]. eapply written_of_items, confirm_sound; eauto.
Qed.
Theorem confirmed_places oracle items L example s s2 other :
  confirm oracle library items = true ->
  check_places L example s s2 other (map item_theorem items) = true -> places L.
Proof.
  intros C H. eapply check_places_sound; [exact H|]. eapply written_of_items, confirm_sound; eauto.
Qed.

(** The same for [layoutdsl-check --coq], where Coq evaluates both functions. *)
Lemma written_of_pairs l : Forall (fun i : item * list refutation => true_item (fst i)) l ->
  Forall true_as_written (map (fun i => item_theorem (fst i)) l).
Proof. intro H. apply Forall_map. eapply Forall_impl; [|exact H]. intros i Q. apply Q. Qed.
Theorem confirmed_with_packs items L example I :
  confirm_with library items = true ->
  check_packs L example I (map (fun i => item_theorem (fst i)) items) = true ->
  packs L /\ (gaps I = [] -> packs_without_gaps L).
Proof.
  intros C H. eapply packs_of_check; [exact H|]. now apply written_of_pairs, confirm_with_sound.
Qed.
Theorem confirmed_with_places items L example s s2 other :
  confirm_with library items = true ->
  check_places L example s s2 other (map (fun i => item_theorem (fst i)) items) = true -> places L.
Proof.
  intros C H. eapply check_places_sound; [exact H|]. now apply written_of_pairs, confirm_with_sound.
Qed.
