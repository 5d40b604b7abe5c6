; Functions of the lane IR (LaneFn): result word n of a call is fn_NAME.n. imm: the immediate.

(define-fun fn_ShlVar.0 ((a B32) (b B32)) B32
  (bvshl a (amount5 b)))
(define-fun fn_Shl64Var.0 ((a B32) (b B32) (n B32)) B32
  (low (bvshl (concat b a) (amount6 n))))
(define-fun fn_Shl64Var.1 ((a B32) (b B32) (n B32)) B32
  (high (bvshl (concat b a) (amount6 n))))
(define-fun fn_LshrVar.0 ((a B32) (b B32)) B32
  (bvlshr a (amount5 b)))
(define-fun fn_Lshr64Var.0 ((a B32) (b B32) (n B32)) B32
  (low (bvlshr (concat b a) (amount6 n))))
(define-fun fn_Lshr64Var.1 ((a B32) (b B32) (n B32)) B32
  (high (bvlshr (concat b a) (amount6 n))))
(define-fun fn_AshrVar.0 ((a B32) (b B32)) B32
  (bvashr a (amount5 b)))
(define-fun fn_Ashr64Var.0 ((a B32) (b B32) (n B32)) B32
  (low (bvashr (concat b a) (amount6 n))))
(define-fun fn_Ashr64Var.1 ((a B32) (b B32) (n B32)) B32
  (high (bvashr (concat b a) (amount6 n))))
(define-fun fn_AlignBitVar.0 ((a B32) (b B32) (c B32)) B32
  (low (bvlshr (concat a b) (uw64 (amount5 c)))))
(define-fun fn_BfeU.0 ((a B32) (b B32) (c B32)) B32
  (bvand (bvlshr a (amount5 b)) (bvsub (bvshl #x00000001 (amount5 c)) #x00000001)))
; Below bit 31 the sign is that of the field, of a field that reaches beyond the word that of the word.
(define-fun fn_BfeI.0 ((a B32) (b B32) (c B32)) B32
      (ite (= (amount5 c) #x00000000) #x00000000 (bvashr (bvshl (bvashr a (amount5 b)) (bvsub #x00000020 (amount5 c))) (bvsub #x00000020 (amount5 c)))))
(define-fun fn_Perm.0 ((a B32) (b B32) (c B32)) B32
  (v_perm_b32 a b c))
(define-fun fn_Lerp.0 ((a B32) (b B32) (c B32)) B32
  (v_lerp_u8 a b c))
(define-fun fn_SadU8.0 ((a B32) (b B32)) B32
  (sad8 a b))
(define-fun fn_SadU16.0 ((a B32) (b B32)) B32
  (sad16 a b))
(define-fun fn_MsadU8.0 ((a B32) (b B32)) B32
  (msad8 a b))
(define-fun fn_QsadPk.0 ((a B32) (b B32) (c B32) (d B32) (e B32) (imm B32)) B32
  (ite (= imm #x00000001) (low (v_qsad_pk_u16_u8.clamp (concat b a) c (concat e d))) (low (v_qsad_pk_u16_u8 (concat b a) c (concat e d)))))
(define-fun fn_QsadPk.1 ((a B32) (b B32) (c B32) (d B32) (e B32) (imm B32)) B32
  (ite (= imm #x00000001) (high (v_qsad_pk_u16_u8.clamp (concat b a) c (concat e d))) (high (v_qsad_pk_u16_u8 (concat b a) c (concat e d)))))
(define-fun fn_MqsadPk.0 ((a B32) (b B32) (c B32) (d B32) (e B32) (imm B32)) B32
  (ite (= imm #x00000001) (low (v_mqsad_pk_u16_u8.clamp (concat b a) c (concat e d))) (low (v_mqsad_pk_u16_u8 (concat b a) c (concat e d)))))
(define-fun fn_MqsadPk.1 ((a B32) (b B32) (c B32) (d B32) (e B32) (imm B32)) B32
  (ite (= imm #x00000001) (high (v_mqsad_pk_u16_u8.clamp (concat b a) c (concat e d))) (high (v_mqsad_pk_u16_u8 (concat b a) c (concat e d)))))
(define-fun fn_MqsadU32.0 ((a B32) (b B32) (c B32) (d B32) (e B32) (f B32) (g B32) (imm B32)) B32
  ((_ extract 31 0) (ite (= imm #x00000001) (v_mqsad_u32_u8.clamp (concat b a) c (concat g f e d)) (v_mqsad_u32_u8 (concat b a) c (concat g f e d)))))
(define-fun fn_MqsadU32.1 ((a B32) (b B32) (c B32) (d B32) (e B32) (f B32) (g B32) (imm B32)) B32
  ((_ extract 63 32) (ite (= imm #x00000001) (v_mqsad_u32_u8.clamp (concat b a) c (concat g f e d)) (v_mqsad_u32_u8 (concat b a) c (concat g f e d)))))
(define-fun fn_MqsadU32.2 ((a B32) (b B32) (c B32) (d B32) (e B32) (f B32) (g B32) (imm B32)) B32
  ((_ extract 95 64) (ite (= imm #x00000001) (v_mqsad_u32_u8.clamp (concat b a) c (concat g f e d)) (v_mqsad_u32_u8 (concat b a) c (concat g f e d)))))
(define-fun fn_MqsadU32.3 ((a B32) (b B32) (c B32) (d B32) (e B32) (f B32) (g B32) (imm B32)) B32
  ((_ extract 127 96) (ite (= imm #x00000001) (v_mqsad_u32_u8.clamp (concat b a) c (concat g f e d)) (v_mqsad_u32_u8 (concat b a) c (concat g f e d)))))
(define-fun fn_MbcntLo.0 ((a B32) (lane B32)) B32
  (ones32 (bvand a (low (bvsub (bvshl #x0000000000000001 (uw64 lane)) #x0000000000000001)))))
(define-fun fn_MbcntHi.0 ((a B32) (lane B32)) B32
  (ones32 (bvand a (high (bvsub (bvshl #x0000000000000001 (uw64 lane)) #x0000000000000001)))))
(define-fun fn_Dot4I.0 ((a B32) (b B32)) B32
  (low (dot4_i a b)))
(define-fun fn_Dot4U.0 ((a B32) (b B32)) B32
  (low (dot4_u a b)))
(define-fun fn_Dot8I.0 ((a B32) (b B32)) B32
  (low (dot8_i a b)))
(define-fun fn_Dot8U.0 ((a B32) (b B32)) B32
  (low (dot8_u a b)))
