(** Terms, formulas, theorems and questions, and what it means that they are true.

    Read this file to know what "confirmed" claims. Every other file of this folder is either
    a program (which Coq proves to confirm true theorems only) or a proof (which Coq checks). *)

From Coq Require Import ZArith List Bool PArith.
Import ListNotations.
Open Scope Z_scope.

(** * Syntax

    [N*C + c/16] is [Op OAdd (Op OMul (Var N) (Var C)) (Op ODiv (Var c) (Num 16))]. The reader
    gives each name a number, so [N], [C] and [c] are numbers here. *)

Inductive op := OAdd | OSub | OMul | ODiv | OMod.
Inductive term := Num (z : Z) | Var (x : positive) | Op (o : op) (a b : term).

Inductive rel := REq | RLe | RLt.
Inductive formula :=
| Rel (r : rel) (a b : term)
| And (f g : formula) | Or (f g : formula) | Imp (f g : formula) | Not (f : formula).

(** For all integers [vars]: with the names of [defs] defined as their terms, the hypotheses
    [hyps] imply the [goals]. *)
Record theorem := {
  vars : list positive;
  defs : list (positive * term);
  hyps : list formula;
  goals : list formula }.

(** * Meaning of terms and formulas *)

(** Division is any pair of total functions that is floor division for positive divisors.
    Nothing is known of divisors that are zero or negative. Python's [//] and [%], Euclidean
    division of SMT-LIB, and C's division of non-negative numbers all qualify, so a theorem
    that holds for every [division] holds in each of these languages. *)
Record division := {
  quo : Z -> Z -> Z;
  rem : Z -> Z -> Z;
  quo_ok : forall x b, 0 < b -> quo x b = x / b;
  rem_ok : forall x b, 0 < b -> rem x b = x mod b }.

(** A valuation gives every name an integer. *)
Definition valuation := positive -> Z.

Definition apply_op (D : division) (o : op) : Z -> Z -> Z :=
  match o with OAdd => Z.add | OSub => Z.sub | OMul => Z.mul | ODiv => quo D | OMod => rem D end.

Fixpoint eval (D : division) (v : valuation) (t : term) : Z :=
  match t with Num z => z | Var x => v x | Op o a b => apply_op D o (eval D v a) (eval D v b) end.

Fixpoint holds (D : division) (v : valuation) (f : formula) : Prop :=
  match f with
  | Rel REq a b => eval D v a = eval D v b
  | Rel RLe a b => eval D v a <= eval D v b
  | Rel RLt a b => eval D v a < eval D v b
  | And f g => holds D v f /\ holds D v g
  | Or f g => holds D v f \/ holds D v g
  | Imp f g => holds D v f -> holds D v g
  | Not f => ~ holds D v f
  end.

Definition all (D : division) (v : valuation) (l : list formula) : Prop := Forall (holds D v) l.

(** * Truth of theorems

    A definition can be read in two ways. Both are proved of every confirmed theorem. *)

(** First reading, told to people: choose the variables, compute the definitions one after the
    other, and the hypotheses imply the goals. *)
Definition update (v : valuation) (x : positive) (z : Z) : valuation :=
  fun y => if Pos.eqb y x then z else v y.
Fixpoint extend (D : division) (ds : list (positive * term)) (v : valuation) : valuation :=
  match ds with [] => v | (x, t) :: ds => extend D ds (update v x (eval D v t)) end.
Definition true_as_written (th : theorem) : Prop :=
  forall D v, let w := extend D (defs th) v in all D w (hyps th) -> all D w (goals th).

(** Second reading, needed when a proof uses an earlier theorem: wherever the definitions hold
    as equations and the hypotheses hold, the goals hold. *)
Definition equation (d : positive * term) : formula := Rel REq (Var (fst d)) (snd d).
Definition true_theorem (th : theorem) : Prop :=
  forall D v, all D v (map equation (defs th)) -> all D v (hyps th) -> all D v (goals th).

(** * Questions

    A proof leaves questions behind: do these premises imply this formula? *)
Definition question := (list formula * formula)%type.
Definition valid (q : question) : Prop := forall D v, all D v (fst q) -> holds D v (snd q).

(** Solvers get an easier text, in which a product, quotient or remainder of two unknowns is an
    arbitrary function. [unsat q] is what their answer *unsat* says of that text. [check_sound]
    needs [valid q], which follows from [unsat q] ([unsat_valid] in Check.v). The checker of this
    folder asks no solver and does not depend on this part. *)
Record opaque := {
  any_product : Z -> Z -> Z;
  any_quotient : Z -> Z -> Z;
  any_remainder : Z -> Z -> Z }.

Definition is_number (t : term) := match t with Num _ => true | _ => false end.
Definition linear (o : op) (a b : term) : bool :=
  match o with
  | OAdd | OSub => true
  | OMul => is_number a || is_number b
  | ODiv | OMod => match b with Num z => 0 <? z | _ => false end
  end.

Definition apply_linear (o : op) : Z -> Z -> Z :=
  match o with
  | OAdd => Z.add | OSub => Z.sub | OMul => Z.mul | ODiv => Z.div | OMod => Z.modulo
  end.
Definition apply_opaque (U : opaque) (o : op) : Z -> Z -> Z :=
  match o with
  | OAdd => Z.add | OSub => Z.sub
  | OMul => any_product U | ODiv => any_quotient U | OMod => any_remainder U
  end.

Fixpoint eval_opaque (U : opaque) (v : valuation) (t : term) : Z :=
  match t with
  | Num z => z
  | Var x => v x
  | Op o a b =>
      (if linear o a b then apply_linear o else apply_opaque U o)
        (eval_opaque U v a) (eval_opaque U v b)
  end.

Fixpoint holds_opaque (U : opaque) (v : valuation) (f : formula) : Prop :=
  match f with
  | Rel REq a b => eval_opaque U v a = eval_opaque U v b
  | Rel RLe a b => eval_opaque U v a <= eval_opaque U v b
  | Rel RLt a b => eval_opaque U v a < eval_opaque U v b
  | And f g => holds_opaque U v f /\ holds_opaque U v g
  | Or f g => holds_opaque U v f \/ holds_opaque U v g
  | Imp f g => holds_opaque U v f -> holds_opaque U v g
  | Not f => ~ holds_opaque U v f
  end.

Definition unsat (q : question) : Prop :=
  forall U v, Forall (holds_opaque U v) (fst q) -> holds_opaque U v (snd q).
