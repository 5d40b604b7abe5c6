; Helpers of the definitions of instructions and of the lane IR.

(define-sort B1 () (_ BitVec 1))
(define-sort B2 () (_ BitVec 2))
(define-sort B4 () (_ BitVec 4))
(define-sort B8 () (_ BitVec 8))
(define-sort B16 () (_ BitVec 16))
(define-sort B24 () (_ BitVec 24))
(define-sort B32 () (_ BitVec 32))
(define-sort B33 () (_ BitVec 33))
(define-sort B48 () (_ BitVec 48))
(define-sort B64 () (_ BitVec 64))
(define-sort B65 () (_ BitVec 65))
(define-sort B128 () (_ BitVec 128))

(define-fun bit ((c Bool)) B1 (ite c #b1 #b0))
(define-fun nz32 ((x B32)) B1 (bit (distinct x #x00000000)))
(define-fun nz64 ((x B64)) B1 (bit (distinct x #x0000000000000000)))
(define-fun sign ((x B32)) B1 ((_ extract 31 31) x))
(define-fun w33 ((x B32)) B33 ((_ zero_extend 1) x))
(define-fun carry33 ((x B33)) B1 ((_ extract 32 32) x))
(define-fun uw64 ((x B32)) B64 ((_ zero_extend 32) x))
(define-fun sw64 ((x B32)) B64 ((_ sign_extend 32) x))
(define-fun low ((x B64)) B32 ((_ extract 31 0) x))
(define-fun high ((x B64)) B32 ((_ extract 63 32) x))
(define-fun lo16 ((x B32)) B16 ((_ extract 15 0) x))
(define-fun hi16 ((x B32)) B16 ((_ extract 31 16) x))
(define-fun byte0 ((x B32)) B8 ((_ extract 7 0) x))
(define-fun byte1 ((x B32)) B8 ((_ extract 15 8) x))
(define-fun byte2 ((x B32)) B8 ((_ extract 23 16) x))
(define-fun byte3 ((x B32)) B8 ((_ extract 31 24) x))
(define-fun amount4 ((x B16)) B16 (bvand x #x000f))
(define-fun amount5 ((x B32)) B32 (bvand x #x0000001f))
(define-fun amount6 ((x B32)) B64 (uw64 (bvand x #x0000003f)))
(define-fun zx32 ((x B16)) B32 ((_ zero_extend 16) x))
(define-fun sx32 ((x B16)) B32 ((_ sign_extend 16) x))

; Products of words. solve.py may treat umul64 as an unknown function.
(define-fun mul32 ((x B32) (y B32)) B32 (bvmul x y))
(define-fun umul64 ((x B32) (y B32)) B64 (bvmul (uw64 x) (uw64 y)))
(define-fun smul64 ((x B32) (y B32)) B64 (bvmul (sw64 x) (sw64 y)))

; Bits in the opposite order.
(define-fun reverse8 ((x B8)) B8
  (concat ((_ extract 0 0) x) ((_ extract 1 1) x) ((_ extract 2 2) x) ((_ extract 3 3) x) ((_ extract 4 4) x) ((_ extract 5 5) x) ((_ extract 6 6) x) ((_ extract 7 7) x)))
(define-fun reverse16 ((x B16)) B16 (concat (reverse8 ((_ extract 7 0) x)) (reverse8 ((_ extract 15 8) x))))
(define-fun reverse32 ((x B32)) B32 (concat (reverse16 (lo16 x)) (reverse16 (hi16 x))))
(define-fun reverse64 ((x B64)) B64 (concat (reverse32 (low x)) (reverse32 (high x))))

; Number of ones.
(define-fun ones8 ((x B8)) B8
  (bvadd ((_ zero_extend 7) ((_ extract 0 0) x)) ((_ zero_extend 7) ((_ extract 1 1) x)) ((_ zero_extend 7) ((_ extract 2 2) x)) ((_ zero_extend 7) ((_ extract 3 3) x)) ((_ zero_extend 7) ((_ extract 4 4) x)) ((_ zero_extend 7) ((_ extract 5 5) x)) ((_ zero_extend 7) ((_ extract 6 6) x)) ((_ zero_extend 7) ((_ extract 7 7) x))))
(define-fun ones32 ((x B32)) B32
  ((_ zero_extend 24) (bvadd (ones8 (byte0 x)) (ones8 (byte1 x)) (ones8 (byte2 x)) (ones8 (byte3 x)))))
(define-fun ones64 ((x B64)) B32 (bvadd (ones32 (low x)) (ones32 (high x))))

; Position of the lowest one, the width for 0.
(define-fun first8 ((x B8)) B8
  (ite (= ((_ extract 0 0) x) #b1) #x00 (ite (= ((_ extract 1 1) x) #b1) #x01 (ite (= ((_ extract 2 2) x) #b1) #x02 (ite (= ((_ extract 3 3) x) #b1) #x03 (ite (= ((_ extract 4 4) x) #b1) #x04 (ite (= ((_ extract 5 5) x) #b1) #x05 (ite (= ((_ extract 6 6) x) #b1) #x06 (ite (= ((_ extract 7 7) x) #b1) #x07 #x08)))))))))
(define-fun first16 ((x B16)) B8
  (ite (= ((_ extract 7 0) x) #x00) (bvadd #x08 (first8 ((_ extract 15 8) x))) (first8 ((_ extract 7 0) x))))
(define-fun first32 ((x B32)) B32
  ((_ zero_extend 24) (ite (= (lo16 x) #x0000) (bvadd #x10 (first16 (hi16 x))) (first16 (lo16 x)))))
(define-fun first64 ((x B64)) B32
  (ite (= (low x) #x00000000) (bvadd #x00000020 (first32 (high x))) (first32 (low x))))

; One bit for four, four bits for one, two bits for one.
(define-fun quads32 ((x B32)) B8
  (concat (bit (distinct ((_ extract 31 28) x) #x0)) (bit (distinct ((_ extract 27 24) x) #x0)) (bit (distinct ((_ extract 23 20) x) #x0)) (bit (distinct ((_ extract 19 16) x) #x0)) (bit (distinct ((_ extract 15 12) x) #x0)) (bit (distinct ((_ extract 11 8) x) #x0)) (bit (distinct ((_ extract 7 4) x) #x0)) (bit (distinct ((_ extract 3 0) x) #x0))))
(define-fun quads64 ((x B64)) B16 (concat (quads32 (high x)) (quads32 (low x))))
(define-fun spread_quads32 ((x B8)) B32
  (concat ((_ sign_extend 3) ((_ extract 7 7) x)) ((_ sign_extend 3) ((_ extract 6 6) x)) ((_ sign_extend 3) ((_ extract 5 5) x)) ((_ sign_extend 3) ((_ extract 4 4) x)) ((_ sign_extend 3) ((_ extract 3 3) x)) ((_ sign_extend 3) ((_ extract 2 2) x)) ((_ sign_extend 3) ((_ extract 1 1) x)) ((_ sign_extend 3) ((_ extract 0 0) x))))
(define-fun spread_quads64 ((x B16)) B64 (concat (spread_quads32 ((_ extract 15 8) x)) (spread_quads32 ((_ extract 7 0) x))))
(define-fun double32 ((x B32)) B64
  (concat ((_ sign_extend 1) ((_ extract 31 31) x)) ((_ sign_extend 1) ((_ extract 30 30) x)) ((_ sign_extend 1) ((_ extract 29 29) x)) ((_ sign_extend 1) ((_ extract 28 28) x)) ((_ sign_extend 1) ((_ extract 27 27) x)) ((_ sign_extend 1) ((_ extract 26 26) x)) ((_ sign_extend 1) ((_ extract 25 25) x)) ((_ sign_extend 1) ((_ extract 24 24) x)) ((_ sign_extend 1) ((_ extract 23 23) x)) ((_ sign_extend 1) ((_ extract 22 22) x)) ((_ sign_extend 1) ((_ extract 21 21) x)) ((_ sign_extend 1) ((_ extract 20 20) x)) ((_ sign_extend 1) ((_ extract 19 19) x)) ((_ sign_extend 1) ((_ extract 18 18) x)) ((_ sign_extend 1) ((_ extract 17 17) x)) ((_ sign_extend 1) ((_ extract 16 16) x)) ((_ sign_extend 1) ((_ extract 15 15) x)) ((_ sign_extend 1) ((_ extract 14 14) x)) ((_ sign_extend 1) ((_ extract 13 13) x)) ((_ sign_extend 1) ((_ extract 12 12) x)) ((_ sign_extend 1) ((_ extract 11 11) x)) ((_ sign_extend 1) ((_ extract 10 10) x)) ((_ sign_extend 1) ((_ extract 9 9) x)) ((_ sign_extend 1) ((_ extract 8 8) x)) ((_ sign_extend 1) ((_ extract 7 7) x)) ((_ sign_extend 1) ((_ extract 6 6) x)) ((_ sign_extend 1) ((_ extract 5 5) x)) ((_ sign_extend 1) ((_ extract 4 4) x)) ((_ sign_extend 1) ((_ extract 3 3) x)) ((_ sign_extend 1) ((_ extract 2 2) x)) ((_ sign_extend 1) ((_ extract 1 1) x)) ((_ sign_extend 1) ((_ extract 0 0) x))))
