; What forms of instructions do with operands and results.

; ---- SDWA: selections of sources, without and with SEXT
(define-fun sdwa_byte_0 ((x B32)) B32 ((_ zero_extend 24) (byte0 x)))
(define-fun sdwa_byte_0_sext ((x B32)) B32 ((_ sign_extend 24) (byte0 x)))
(define-fun sdwa_byte_1 ((x B32)) B32 ((_ zero_extend 24) (byte1 x)))
(define-fun sdwa_byte_1_sext ((x B32)) B32 ((_ sign_extend 24) (byte1 x)))
(define-fun sdwa_byte_2 ((x B32)) B32 ((_ zero_extend 24) (byte2 x)))
(define-fun sdwa_byte_2_sext ((x B32)) B32 ((_ sign_extend 24) (byte2 x)))
(define-fun sdwa_byte_3 ((x B32)) B32 ((_ zero_extend 24) (byte3 x)))
(define-fun sdwa_byte_3_sext ((x B32)) B32 ((_ sign_extend 24) (byte3 x)))
(define-fun sdwa_word_0 ((x B32)) B32 ((_ zero_extend 16) (lo16 x)))
(define-fun sdwa_word_0_sext ((x B32)) B32 ((_ sign_extend 16) (lo16 x)))
(define-fun sdwa_word_1 ((x B32)) B32 ((_ zero_extend 16) (hi16 x)))
(define-fun sdwa_word_1_sext ((x B32)) B32 ((_ sign_extend 16) (hi16 x)))
(define-fun sdwa_dword ((x B32)) B32 x)
(define-fun sdwa_dword_sext ((x B32)) B32 x)

; ---- SDWA: placements of results; the rest is zero, the sign above and zero below, or the old value d
(define-fun sdwa_to_byte_0_pad ((r B32) (d B32)) B32 (concat (_ bv0 24) (byte0 r)))
(define-fun sdwa_to_byte_0_sext ((r B32) (d B32)) B32 ((_ sign_extend 24) (byte0 r)))
(define-fun sdwa_to_byte_0_preserve ((r B32) (d B32)) B32 (concat ((_ extract 31 8) d) (byte0 r)))
(define-fun sdwa_to_byte_1_pad ((r B32) (d B32)) B32 (concat (_ bv0 16) (byte0 r) (_ bv0 8)))
(define-fun sdwa_to_byte_1_sext ((r B32) (d B32)) B32 (concat ((_ sign_extend 16) (byte0 r)) (_ bv0 8)))
(define-fun sdwa_to_byte_1_preserve ((r B32) (d B32)) B32 (concat ((_ extract 31 16) d) (byte0 r) ((_ extract 7 0) d)))
(define-fun sdwa_to_byte_2_pad ((r B32) (d B32)) B32 (concat (_ bv0 8) (byte0 r) (_ bv0 16)))
(define-fun sdwa_to_byte_2_sext ((r B32) (d B32)) B32 (concat ((_ sign_extend 8) (byte0 r)) (_ bv0 16)))
(define-fun sdwa_to_byte_2_preserve ((r B32) (d B32)) B32 (concat ((_ extract 31 24) d) (byte0 r) ((_ extract 15 0) d)))
(define-fun sdwa_to_byte_3_pad ((r B32) (d B32)) B32 (concat (byte0 r) (_ bv0 24)))
(define-fun sdwa_to_byte_3_sext ((r B32) (d B32)) B32 (concat ((_ sign_extend 0) (byte0 r)) (_ bv0 24)))
(define-fun sdwa_to_byte_3_preserve ((r B32) (d B32)) B32 (concat (byte0 r) ((_ extract 23 0) d)))
(define-fun sdwa_to_word_0_pad ((r B32) (d B32)) B32 (concat #x0000 (lo16 r)))
(define-fun sdwa_to_word_0_sext ((r B32) (d B32)) B32 ((_ sign_extend 16) (lo16 r)))
(define-fun sdwa_to_word_0_preserve ((r B32) (d B32)) B32 (concat (hi16 d) (lo16 r)))
(define-fun sdwa_to_word_1_pad ((r B32) (d B32)) B32 (concat (lo16 r) #x0000))
(define-fun sdwa_to_word_1_sext ((r B32) (d B32)) B32 (concat (lo16 r) #x0000))
(define-fun sdwa_to_word_1_preserve ((r B32) (d B32)) B32 (concat (lo16 r) (lo16 d)))
(define-fun sdwa_to_dword_pad ((r B32) (d B32)) B32 r)
(define-fun sdwa_to_dword_sext ((r B32) (d B32)) B32 r)
(define-fun sdwa_to_dword_preserve ((r B32) (d B32)) B32 r)

; ---- OP_SEL: halves of sources and of the destination
(define-fun half_0 ((x B32)) B16 (lo16 x))
(define-fun half_1 ((x B32)) B16 (hi16 x))
(define-fun to_low_zero ((r B16) (d B32)) B32 (concat #x0000 r))
(define-fun to_low_keep ((r B16) (d B32)) B32 (concat (hi16 d) r))
(define-fun to_high_keep ((r B16) (d B32)) B32 (concat r (lo16 d)))

; ---- OP_SEL and OP_SEL_HI of packed sources: halves_LH takes half L for the low
; result and half H for the high one
(define-fun halves_00 ((x B32)) B32 (concat (lo16 x) (lo16 x)))
(define-fun halves_01 ((x B32)) B32 x)
(define-fun halves_10 ((x B32)) B32 (concat (lo16 x) (hi16 x)))
(define-fun halves_11 ((x B32)) B32 (concat (hi16 x) (hi16 x)))

; ---- EXEC
(define-fun bit_of ((m B64) (lane B32)) B1 ((_ extract 0 0) (bvlshr m (uw64 lane))))
(define-fun under1 ((e B1) (new B32) (old B32)) B32 (ite (= e #b1) new old))
