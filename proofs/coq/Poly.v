(** Equality of terms as polynomials: [a*(b + 1)] equals [b*a + a].

    A quotient or remainder is an unknown of its own, identified by its two normalized operands.
    Polynomials are sorted lists of monomials, and monomials sorted lists of terms, so equal
    polynomials are equal lists. [equal_polynomials_ok] is all that Check.v needs. *)
From Coq Require Import ZArith List Bool PArith Lia.
Require Import Syntax.
Import ListNotations.
Open Scope Z_scope.

Definition op_id (o : op) : positive :=
  match o with OAdd => 1 | OSub => 2 | OMul => 3 | ODiv => 4 | OMod => 5 end%positive.
Lemma op_id_inj o o' : op_id o = op_id o' -> o = o'.
Proof. destruct o, o'; simpl; congruence. Qed.

(** An arbitrary total order of terms. Only [term_compare_eq] matters for soundness. *)
Fixpoint term_compare (a b : term) : comparison :=
  match a, b with
  | Num x, Num y => Z.compare x y
  | Num _, _ => Lt
  | _, Num _ => Gt
  | Var x, Var y => Pos.compare x y
  | Var _, _ => Lt
  | _, Var _ => Gt
  | Op o a1 a2, Op o' b1 b2 =>
      match Pos.compare (op_id o) (op_id o') with
      | Eq => match term_compare a1 b1 with Eq => term_compare a2 b2 | c => c end
      | c => c
      end
  end.
Lemma term_compare_eq a : forall b, term_compare a b = Eq -> a = b.
Proof.
  induction a as [z|x|o a1 IH1 a2 IH2]; destruct b; simpl; try discriminate; intro H.
  - apply Z.compare_eq in H. congruence.
  - apply Pos.compare_eq in H. congruence.
  - destruct (Pos.compare (op_id o) (op_id o0)) eqn:E; try discriminate.
    apply Pos.compare_eq, op_id_inj in E.
    destruct (term_compare a1 b1) eqn:E1; try discriminate.
    apply IH1 in E1. apply IH2 in H. congruence.
Qed.
Definition term_eqb a b := match term_compare a b with Eq => true | _ => false end.
Lemma term_eqb_eq a b : term_eqb a b = true -> a = b.
Proof. unfold term_eqb. destruct (term_compare a b) eqn:E; try discriminate. intros _. now apply term_compare_eq. Qed.

(** A monomial is a product of terms; a polynomial a sum of monomials with coefficients. *)
Definition mono := list term.
Definition poly := list (mono * Z).

Fixpoint mono_compare (a b : mono) : comparison :=
  match a, b with
  | [], [] => Eq
  | [], _ => Lt
  | _, [] => Gt
  | x :: a, y :: b => match term_compare x y with Eq => mono_compare a b | c => c end
  end.
Lemma mono_compare_eq a : forall b, mono_compare a b = Eq -> a = b.
Proof.
  induction a as [|x a IH]; destruct b; simpl; try discriminate; auto.
  destruct (term_compare x t) eqn:E; try discriminate. intro H.
  apply term_compare_eq in E. apply IH in H. congruence.
Qed.

Fixpoint mono_mul (a : mono) : mono -> mono :=
  match a with
  | [] => fun b => b
  | x :: a' => fix inner b :=
      match b with
      | [] => a
      | y :: b' => match term_compare x y with Gt => y :: inner b' | _ => x :: mono_mul a' b end
      end
  end.

Fixpoint poly_add (p : poly) : poly -> poly :=
  match p with
  | [] => fun q => q
  | (m, c) :: p' => fix inner q :=
      match q with
      | [] => p
      | (m', c') :: q' =>
          match mono_compare m m' with
          | Eq => let s := c + c' in if s =? 0 then poly_add p' q' else (m, s) :: poly_add p' q'
          | Lt => (m, c) :: poly_add p' q
          | Gt => (m', c') :: inner q'
          end
      end
  end.
Fixpoint poly_add_mono (m : mono) (c : Z) (q : poly) : poly :=
  match q with
  | [] => [(m, c)]
  | (m', c') :: q' =>
      match mono_compare m m' with
      | Eq => let s := c + c' in if s =? 0 then q' else (m, s) :: q'
      | Lt => (m, c) :: q
      | Gt => (m', c') :: poly_add_mono m c q'
      end
  end.
Definition poly_const (z : Z) : poly := if z =? 0 then [] else [([], z)].
Definition poly_scale (k : Z) (p : poly) : poly :=
  if k =? 0 then [] else map (fun mc => (fst mc, k * snd mc)) p.
Definition poly_mul_mono (m : mono) (c : Z) (q : poly) : poly :=
  fold_right (fun mc acc => poly_add_mono (mono_mul m (fst mc)) (c * snd mc) acc) [] q.
Definition poly_mul (p q : poly) : poly :=
  fold_right (fun mc acc => poly_add (poly_mul_mono (fst mc) (snd mc) q) acc) [] p.

(** Back to terms, for the operands of quotients and remainders. *)
Definition mono_term (m : mono) : term := fold_right (fun t acc => Op OMul t acc) (Num 1) m.
Definition poly_term (p : poly) : term :=
  fold_right (fun mc acc => Op OAdd (Op OMul (Num (snd mc)) (mono_term (fst mc))) acc) (Num 0) p.

(** The normal form of a term. *)
Fixpoint normalize (t : term) : poly :=
  match t with
  | Num z => poly_const z
  | Var x => [([Var x], 1)]
  | Op OAdd a b => poly_add (normalize a) (normalize b)
  | Op OSub a b => poly_add (normalize a) (poly_scale (-1) (normalize b))
  | Op OMul a b => poly_mul (normalize a) (normalize b)
  | Op o a b => [([Op o (poly_term (normalize a)) (poly_term (normalize b))], 1)]
  end.

Fixpoint poly_eqb (p q : poly) : bool :=
  match p, q with
  | [], [] => true
  | (m, c) :: p, (m', c') :: q =>
      (c =? c') && match mono_compare m m' with Eq => poly_eqb p q | _ => false end
  | _, _ => false
  end.
Definition equal_polynomials (a b : term) : bool := poly_eqb (normalize a) (normalize b).

(** Every operation keeps the value. *)
Section Eval.
Variable D : division.
Variable v : valuation.
Fixpoint mono_eval (m : mono) : Z := match m with [] => 1 | t :: m => eval D v t * mono_eval m end.
Fixpoint poly_eval (p : poly) : Z := match p with [] => 0 | (m, c) :: p => c * mono_eval m + poly_eval p end.

Lemma mono_mul_ok a : forall b, mono_eval (mono_mul a b) = mono_eval a * mono_eval b.
Proof.
  induction a as [|x a IH]; intro b; [cbn [mono_mul mono_eval]; ring|].
  induction b as [|y b IHb]; [cbn [mono_mul mono_eval]; ring|].
  cbn [mono_mul]. destruct (term_compare x y).
  - cbn [mono_eval]. rewrite IH. cbn [mono_eval]. ring.
  - cbn [mono_eval]. rewrite IH. cbn [mono_eval]. ring.
  - cbn [mono_eval]. cbn [mono_mul mono_eval] in IHb. rewrite IHb. ring.
Qed.
Lemma poly_add_ok p : forall q, poly_eval (poly_add p q) = poly_eval p + poly_eval q.
Proof.
  induction p as [|[m c] p IH]; intro q; [reflexivity|].
  induction q as [|[m' c'] q IHq]; [cbn [poly_add poly_eval]; ring|].
  cbn [poly_add]. destruct (mono_compare m m') eqn:E.
  - apply mono_compare_eq in E. subst m'. cbv zeta. destruct (c + c' =? 0) eqn:Z0.
    + apply Z.eqb_eq in Z0. rewrite IH. cbn [poly_eval]. assert (c' = - c) by lia. subst. ring.
    + cbn [poly_eval]. rewrite IH. ring.
  - cbn [poly_eval]. rewrite IH. cbn [poly_eval]. ring.
  - cbn [poly_eval]. cbn [poly_add poly_eval] in IHq. rewrite IHq. ring.
Qed.
Lemma poly_add_mono_ok m c q : poly_eval (poly_add_mono m c q) = c * mono_eval m + poly_eval q.
Proof.
  induction q as [|[m' c'] q IH]; simpl; [ring|].
  destruct (mono_compare m m') eqn:E.
  - apply mono_compare_eq in E. subst m'. destruct (c + c' =? 0) eqn:Z0.
    + apply Z.eqb_eq in Z0. assert (c' = - c) by lia. subst. ring.
    + simpl. ring.
  - simpl. ring.
  - simpl. rewrite IH. ring.
Qed.
Lemma poly_const_ok z : poly_eval (poly_const z) = z.
Proof. unfold poly_const. destruct (z =? 0) eqn:E; simpl; [apply Z.eqb_eq in E|]; lia. Qed.
Lemma poly_scale_ok k p : poly_eval (poly_scale k p) = k * poly_eval p.
Proof.
  unfold poly_scale. destruct (k =? 0) eqn:E; [apply Z.eqb_eq in E; subst; reflexivity|].
  induction p as [|[m c] p IH]; simpl; [ring|]. rewrite IH. ring.
Qed.
Lemma poly_mul_mono_ok m c q : poly_eval (poly_mul_mono m c q) = c * mono_eval m * poly_eval q.
Proof.
  unfold poly_mul_mono. induction q as [|[m' c'] q IH]; cbn [fold_right poly_eval fst snd]; [ring|].
  rewrite poly_add_mono_ok, IH, mono_mul_ok. ring.
Qed.
Lemma poly_mul_ok p q : poly_eval (poly_mul p q) = poly_eval p * poly_eval q.
Proof.
  unfold poly_mul. induction p as [|[m c] p IH]; simpl; [ring|].
  rewrite poly_add_ok, poly_mul_mono_ok, IH. ring.
Qed.
Lemma mono_term_ok m : eval D v (mono_term m) = mono_eval m.
Proof. induction m as [|t m IH]; simpl; congruence. Qed.
Lemma poly_term_ok p : eval D v (poly_term p) = poly_eval p.
Proof. induction p as [|[m c] p IH]; simpl; [reflexivity|]. rewrite IH, mono_term_ok. reflexivity. Qed.
Lemma normalize_ok t : poly_eval (normalize t) = eval D v t.
Proof.
  induction t as [z|x|o a IHa b IHb].
  - apply poly_const_ok.
  - cbn [normalize poly_eval mono_eval eval]. ring.
  - destruct o; cbn [normalize eval apply_op].
    + now rewrite poly_add_ok, IHa, IHb.
    + rewrite poly_add_ok, poly_scale_ok, IHa, IHb. ring.
    + now rewrite poly_mul_ok, IHa, IHb.
    + cbn [poly_eval mono_eval eval apply_op]. rewrite !poly_term_ok, IHa, IHb. ring.
    + cbn [poly_eval mono_eval eval apply_op]. rewrite !poly_term_ok, IHa, IHb. ring.
Qed.
End Eval.

Lemma poly_eqb_eq p : forall q, poly_eqb p q = true -> p = q.
Proof.
  induction p as [|[m c] p IH]; destruct q as [|[m' c'] q]; simpl; try discriminate; auto.
  rewrite andb_true_iff. intros [E H]. apply Z.eqb_eq in E.
  destruct (mono_compare m m') eqn:M; try discriminate.
  apply mono_compare_eq in M. apply IH in H. congruence.
Qed.
Lemma equal_polynomials_ok D v a b : equal_polynomials a b = true -> eval D v a = eval D v b.
Proof. intro H. apply poly_eqb_eq in H. now rewrite <- !(normalize_ok D v), H. Qed.
