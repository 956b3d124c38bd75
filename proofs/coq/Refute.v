(** Refutations: checked answers to questions.

    A question asks whether premises imply a formula. To answer it, assume the premises and the
    formula's negation, and derive a contradiction. A [refutation] is that derivation. The search
    (oracle.ml) may find it in any way; [check_refutation] checks it, and [check_refutation_ok]
    proves that the check is sound.

    Example: [x < 5] and [7 <= x] are the constraints [5 - x - 1 >= 0] and [x - 7 >= 0]. Their sum
    is [-3 >= 0], so [Farkas [(0, 1); (1, 1)]] is a refutation. *)

From Coq Require Import ZArith List Bool PArith Lia.
Require Import Syntax Poly.
Import ListNotations.
Open Scope Z_scope.

(** Constraints and alternatives are numbered from 0 in the order in which they were added. *)
Inductive refutation :=
| Farkas (l : list (nat * Z))
    (** the constraints, each times a number that is not negative, sum to a negative constant *)
| Cut (l : list (nat * Z)) (d : Z) (k : refutation)
    (** the same sum, divided by [d] and rounded down (Chvatal-Gomory), is a new constraint *)
| Split (n : nat) (k1 k2 : refutation)
    (** both sides of alternative [n] are refuted *)
| Branch (t : term) (k1 k2 : refutation)
    (** [0 <= t] and [t <= -1] are both refuted *)
| Divide (a : term) (b : Z) (k : refutation)
    (** the definition of [a / b] and [a mod b] is added, where the number [b] is positive *)
| Congruence (o : op) (a a' b b' : term) (k1 k2 k3 k4 k : refutation).
    (** [a = a'] and [b = b'], because [<] and [>] are refuted, so [a o b = a' o b'] is added *)

(** A constraint is a polynomial that is not negative; an alternative says that one of two
    formulas holds. *)
Record context := { constraints : list poly; alternatives : list (formula * formula) }.
Definition add_constraint (p : poly) (c : context) : context :=
  {| constraints := constraints c ++ [p]; alternatives := alternatives c |}.
Definition add_alternative (f g : formula) (c : context) : context :=
  {| constraints := constraints c; alternatives := alternatives c ++ [(f, g)] |}.
Definition add_le (a b : term) (c : context) : context :=
  add_constraint (normalize (Op OSub b a)) c.
Definition add_lt (a b : term) (c : context) : context :=
  add_constraint (normalize (Op OSub (Op OSub b a) (Num 1))) c.
Definition add_eq (a b : term) (c : context) : context := add_le b a (add_le a b c).

(** Assume that [f] holds ([pos = true]) or that it does not. *)
Fixpoint add_formula (pos : bool) (f : formula) (c : context) : context :=
  match f, pos with
  | Rel REq a b, true => add_eq a b c
  | Rel RLe a b, true => add_le a b c
  | Rel RLt a b, true => add_lt a b c
  | Rel REq a b, false => add_alternative (Rel RLt a b) (Rel RLt b a) c
  | Rel RLe a b, false => add_lt b a c
  | Rel RLt a b, false => add_le b a c
  | And f g, true => add_formula true g (add_formula true f c)
  | And f g, false => add_alternative (Not f) (Not g) c
  | Or f g, true => add_alternative f g c
  | Or f g, false => add_formula false g (add_formula false f c)
  | Imp f g, true => add_alternative (Not f) g c
  | Imp f g, false => add_formula false g (add_formula true f c)
  | Not f, pos => add_formula (negb pos) f c
  end.

(** The sum of constraints, each times its number. *)
Fixpoint combine (l : list (nat * Z)) (ps : list poly) : option poly :=
  match l with
  | [] => Some []
  | (n, k) :: l =>
      if k <? 0 then None else
      match nth_error ps n, combine l ps with
      | Some p, Some q => Some (poly_add (poly_scale k p) q)
      | _, _ => None
      end
  end.
Definition negative_constant (p : poly) : bool := match p with [([], c)] => c <? 0 | _ => false end.
(** Divide by [d]: every coefficient exactly, the constant rounded down. *)
Fixpoint divide_exactly (d : Z) (p : poly) : option poly :=
  match p with
  | [] => Some []
  | (m, c) :: p =>
      if c mod d =? 0 then match divide_exactly d p with Some q => Some ((m, c / d) :: q) | None => None end
      else None
  end.
Definition divide_and_round (d : Z) (p : poly) : option poly :=
  match p with
  | ([], c) :: p => match divide_exactly d p with Some q => Some (poly_add (poly_const (c / d)) q) | None => None end
  | p => divide_exactly d p
  end.

(** [a = (a / b)*b + a mod b] and [0 <= a mod b < b]. *)
Definition add_division (a : term) (b : Z) (c : context) : context :=
  let q := Op ODiv a (Num b) in let r := Op OMod a (Num b) in
  add_lt r (Num b) (add_le (Num 0) r (add_eq (Op OAdd (Op OMul q (Num b)) r) a c)).

(** Does [k] derive a contradiction from [c]? *)
Fixpoint refute (c : context) (k : refutation) : bool :=
  match k with
  | Farkas l => match combine l (constraints c) with Some p => negative_constant p | None => false end
  | Cut l d k =>
      if 0 <? d then
        match combine l (constraints c) with
        | Some p => match divide_and_round d p with Some q => refute (add_constraint q c) k | None => false end
        | None => false
        end
      else false
  | Split n k1 k2 =>
      match nth_error (alternatives c) n with
      | Some (f, g) => refute (add_formula true f c) k1 && refute (add_formula true g c) k2
      | None => false
      end
  | Branch t k1 k2 => refute (add_le (Num 0) t c) k1 && refute (add_lt t (Num 0) c) k2
  | Divide a b k => if 0 <? b then refute (add_division a b c) k else false
  | Congruence o a a' b b' k1 k2 k3 k4 k =>
      refute (add_lt a a' c) k1 && refute (add_lt a' a c) k2 && refute (add_lt b b' c) k3 && refute (add_lt b' b c) k4
      && refute (add_eq (Op o a b) (Op o a' b') c) k
  end.

(** The premises, and the negation of the formula. *)
Definition initial_context (q : question) : context :=
  add_formula false (snd q) (fold_left (fun c f => add_formula true f c) (fst q) {| constraints := []; alternatives := [] |}).
Definition check_refutation (q : question) (k : refutation) : bool := refute (initial_context q) k.

Section Sound.
Variable D : division.
Variable v : valuation.
Notation ev := (eval D v).
Notation pv := (poly_eval D v).

Definition satisfied (c : context) : Prop :=
  Forall (fun p : poly => 0 <= pv p) (constraints c) /\ Forall (fun a : formula * formula => holds D v (fst a) \/ holds D v (snd a)) (alternatives c).

Lemma holds_dec f : holds D v f \/ ~ holds D v f.
Proof. induction f; simpl; try tauto. destruct r; lia. Qed.

Lemma satisfied_add_constraint p c : satisfied c -> 0 <= pv p -> satisfied (add_constraint p c).
Proof. intros [A B] H. split; simpl; auto. apply Forall_app. auto. Qed.
Lemma satisfied_add_alternative f g c : satisfied c -> holds D v f \/ holds D v g -> satisfied (add_alternative f g c).
Proof. intros [A B] H. split; simpl; auto. apply Forall_app. auto. Qed.
Lemma satisfied_add_le a b c : satisfied c -> ev a <= ev b -> satisfied (add_le a b c).
Proof. intros S H. apply satisfied_add_constraint; auto. rewrite normalize_ok. simpl. lia. Qed.
Lemma satisfied_add_lt a b c : satisfied c -> ev a < ev b -> satisfied (add_lt a b c).
Proof. intros S H. apply satisfied_add_constraint; auto. rewrite normalize_ok. simpl. lia. Qed.
Lemma satisfied_add_eq a b c : satisfied c -> ev a = ev b -> satisfied (add_eq a b c).
Proof. intros S H. apply satisfied_add_le; [apply satisfied_add_le|]; auto; lia. Qed.
Lemma satisfied_add_formula f : forall (pos : bool) c, satisfied c -> (if pos then holds D v f else ~ holds D v f) -> satisfied (add_formula pos f c).
Proof.
  induction f as [r a b|f IHf g IHg|f IHf g IHg|f IHf g IHg|f IHf]; intros pos c S H; destruct pos; simpl in *.
  - destruct r; [apply satisfied_add_eq|apply satisfied_add_le|apply satisfied_add_lt]; auto.
  - destruct r; [apply satisfied_add_alternative|apply satisfied_add_lt|apply satisfied_add_le]; auto; simpl; lia.
  - apply IHg; [apply IHf|]; tauto.
  - apply satisfied_add_alternative; auto. simpl. destruct (holds_dec f); tauto.
  - apply satisfied_add_alternative; auto.
  - apply IHg; [apply IHf|]; tauto.
  - apply satisfied_add_alternative; auto. simpl. destruct (holds_dec f); tauto.
  - destruct (holds_dec f); [|tauto]. apply IHg; [apply IHf|]; tauto.
  - apply IHf; auto.
  - apply IHf; auto. destruct (holds_dec f); tauto.
Qed.

Lemma combine_ok l ps : Forall (fun p : poly => 0 <= pv p) ps -> forall p, combine l ps = Some p -> 0 <= pv p.
Proof.
  intro F. induction l as [|[n k] l IH]; simpl; intros p H.
  - inversion H. simpl. lia.
  - destruct (k <? 0) eqn:K; try discriminate. apply Z.ltb_ge in K.
    destruct (nth_error ps n) as [q|] eqn:E; try discriminate.
    destruct (combine l ps) as [q'|]; try discriminate. inversion H; subst.
    rewrite poly_add_ok, poly_scale_ok. apply nth_error_In in E. rewrite Forall_forall in F.
    specialize (F q E). specialize (IH q' eq_refl). nia.
Qed.
Lemma divide_exactly_ok d p : 0 < d -> forall q, divide_exactly d p = Some q -> pv p = d * pv q.
Proof.
  intro Hd. induction p as [|[m c] p IH]; cbn [divide_exactly]; intros q H.
  - inversion H. simpl. lia.
  - destruct (c mod d =? 0) eqn:E; try discriminate. apply Z.eqb_eq in E.
    destruct (divide_exactly d p) as [q'|]; try discriminate. inversion H; subst.
    cbn [poly_eval]. rewrite (IH q' eq_refl).
    assert (c = d * (c / d)) by (pose proof (Z.div_mod c d); lia).
    rewrite H0 at 1. ring.
Qed.
Lemma divide_and_round_ok d p q : 0 < d -> divide_and_round d p = Some q -> 0 <= pv p -> 0 <= pv q.
Proof.
  intros Hd H P.
  assert (X : forall p q, divide_exactly d p = Some q -> 0 <= pv p -> 0 <= pv q).
  { intros p' q' E N. apply divide_exactly_ok in E; auto. nia. }
  unfold divide_and_round in H. destruct p as [|[[|t m] c] p]; eauto.
  destruct (divide_exactly d p) as [q'|] eqn:E; try discriminate. inversion H; subst.
  apply divide_exactly_ok in E; auto. rewrite poly_add_ok, poly_const_ok. cbn [poly_eval mono_eval] in P. rewrite E in P.
  pose proof (Z.div_mod c d). pose proof (Z.mod_pos_bound c d Hd). nia.
Qed.
Lemma satisfied_add_division a b c : 0 < b -> satisfied c -> satisfied (add_division a b c).
Proof.
  intros B S. unfold add_division.
  pose proof (Z.div_mod (ev a) b). pose proof (Z.mod_pos_bound (ev a) b B).
  apply satisfied_add_lt; [apply satisfied_add_le; [apply satisfied_add_eq|]|]; auto; cbn [eval apply_op];
    rewrite ?quo_ok, ?rem_ok by exact B; lia.
Qed.

Lemma refute_ok k : forall c, refute c k = true -> ~ satisfied c.
Proof.
  induction k as [l|l d k IH|n k1 IH1 k2 IH2|t k1 IH1 k2 IH2|a b k IH|o a a' b b' k1 I1 k2 I2 k3 I3 k4 I4 k I];
    intros c H S; cbn [refute] in H.
  - destruct (combine l (constraints c)) as [p|] eqn:E; try discriminate.
    apply combine_ok in E; [|apply S]. destruct p as [|[[|] z] [|]]; try discriminate.
    simpl in H. apply Z.ltb_lt in H. cbn [poly_eval mono_eval] in E. lia.
  - destruct (0 <? d) eqn:Hd; try discriminate. apply Z.ltb_lt in Hd.
    destruct (combine l (constraints c)) as [p|] eqn:E; try discriminate.
    destruct (divide_and_round d p) as [q|] eqn:Q; try discriminate.
    apply (IH _ H). apply satisfied_add_constraint; auto. apply (divide_and_round_ok d p q Hd Q). apply (combine_ok l (constraints c)); [apply S|exact E].
  - destruct (nth_error (alternatives c) n) as [[f g]|] eqn:E; try discriminate.
    apply andb_true_iff in H. destruct H as [H1 H2]. destruct S as [S1 S2].
    pose proof S2 as F. rewrite Forall_forall in F. apply nth_error_In in E. specialize (F _ E). simpl in F.
    destruct F as [F|F]; [apply (IH1 _ H1)|apply (IH2 _ H2)]; apply satisfied_add_formula; auto; split; auto.
  - apply andb_true_iff in H. destruct H as [H1 H2].
    destruct (Z.le_gt_cases 0 (ev t)); [apply (IH1 _ H1), satisfied_add_le|apply (IH2 _ H2), satisfied_add_lt]; simpl; auto; lia.
  - destruct (0 <? b) eqn:B; try discriminate. apply Z.ltb_lt in B.
    apply (IH _ H). now apply satisfied_add_division.
  - repeat (apply andb_true_iff in H; destruct H as [H ?]).
    assert (A : ev a = ev a').
    { destruct (Z.lt_trichotomy (ev a) (ev a')) as [L|[L|L]]; auto; exfalso;
        [eapply (I1 _ H)|eapply I2; [eassumption|]]; apply satisfied_add_lt; auto. }
    assert (B : ev b = ev b').
    { destruct (Z.lt_trichotomy (ev b) (ev b')) as [L|[L|L]]; auto; exfalso;
        [eapply I3; [eassumption|]|eapply I4; [eassumption|]]; apply satisfied_add_lt; auto. }
    eapply I; [eassumption|]. apply satisfied_add_eq; auto. simpl. congruence.
Qed.
End Sound.

(** A checked refutation makes the question valid. *)
Theorem check_refutation_ok q k : check_refutation q k = true -> valid q.
Proof.
  intros H D v P. destruct (holds_dec D v (snd q)) as [|N]; auto. exfalso.
  apply (refute_ok D v k (initial_context q) H). unfold initial_context. apply satisfied_add_formula; auto.
  assert (G : forall l c, satisfied D v c -> Forall (holds D v) l ->
    satisfied D v (fold_left (fun c f => add_formula true f c) l c)).
  { induction l as [|f l IH]; simpl; intros c S F; auto. inversion F; subst.
    apply IH; auto. apply satisfied_add_formula; auto. }
  apply G; auto. split; constructor.
Qed.
