; layoutdsl: every answer has to be unsat
(set-logic ALL)
(declare-fun mul (Int Int) Int)
(declare-fun quo (Int Int) Int)
(declare-fun rem. (Int Int) Int)
