/* Guard on a store (Kubernetes Lease, key of etcd): up to three members, one record, writes that are
 * conditional on the version that was seen.
 *
 * The election is over-approximated: any member may write whenever the rule lets it, and steps down,
 * hands over or releases at any moment.  A request arrives late (also when its sender has given it up, or
 * is dead), or never; its answer comes late or never; a member that does nothing while time passes is
 * stopped.  A read that is old is the same as none: whoever writes by it meets a conflict.  Versions never
 * come again, so all that matters of one is whether it is still the record's: each write makes every view
 * and every other request stale.  These are bits, not numbers: exact, and finite.
 *
 * Time is ticks.  DL: what a flag has, from the sending of its write.  DF: the length of the record, from
 * the sight of its version.
 *
 * S1  an epoch is led once, by one life of one member
 * S2  at most one flag is valid
 * S3  no member leads an epoch below one that it has heard of
 * S4  nobody leads an epoch that its member has said to have released
 * L   (-DLIVE) from every reachable state, with any set of members up and any of them cut off from the
 *     store: once faults stop, somebody that reaches the store leads within the lease
 *
 * N members, EMAX epochs, CRASHES; DELS: the record is deleted, with EDIT also changed by hand; FRESH: there
 * is none yet; FOREIGN: another client of it; PROOF: that the life which the record names has ended (it is
 * proven dead, or has left; or a secret that its end makes known, and whose hash the record has); RATE=k: a clock may miss one tick in k; LATES: at most so many
 * requests are given up; LEAN: nobody releases; ONLY_S2: of a mutant, two flags and nothing before. */
#ifndef N
#define N 3
#endif
#ifndef EMAX
#define EMAX 2
#endif
#ifndef DL
#define DL 1
#endif
#ifndef DF
#define DF 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef DELS
#define DELS 0
#endif
#define MX(a,b) ((a)>(b) -> (a) : (b))

/* the record */
#define ABSENT  0
#define UNKNOWN 4        /* made anew, or emptied by hand: somebody whom nobody knows may hold it   */
#define FREE    5        /* released, with the mark of the holder's release                         */
#define ALIEN   6        /* held by one that is not a member                                         */
byte SH = FREE, SE;      /* who holds it (1..3: member 0..2), epoch                                 */
bit  SD;                 /* PROOF: the life that it names is dead, or leads no more                 */
bit  SX;                 /* EDIT: its length has been shortened by hand                             */
/* the members */
bit  up[3];
byte ep[3], fl[3];       /* epoch that it leads, validity left of its flag                          */
byte kn[3];              /* stored: the highest epoch known                                         */
byte rl[3];              /* "I do not lead, and never again will, any epoch <= rl", as told so far  */
bit  vw[3];              /* has seen the record as it is now                                        */
byte wt[3];              /* ticks until it has seen it unchanged for the length                     */
bit  vf[3];              /* its flag was on when it saw a record that somebody had made anew        */
#define CLAIM 1
#define RENEW 2
#define GIVE  3          /* hand over to ch, or (ch = 0) release                                    */
#define MAKE  4          /* there is no record: make one                                            */
byte ck[3], ce[3], ch[3], cl[3], cs[3];   /* request: kind, epoch, to whom, validity left, 0 on its way 1 written 2 and overwritten */
byte ak[3], ae[3], ah[3];                 /* a request that was given up, or sent by a life that is dead: may still arrive */
bit  ad[3];
byte led[EMAX+1], gm;    /* ghosts: who led; the highest epoch that anybody ever asked for          */
byte crashes = CRASHES, dels = DELS, k, r;
bit  started;
#ifdef RATE
byte lg[3];
#endif
#ifdef FLAG_SURVIVES
byte gv[3];              /* mutant: a crash leaves the flag on until its deadline (no robust futex) */
#define FLAG(i) ((up[i] && ep[i]!=0 && fl[i]>0) || gv[i]>0)
#define KEEPFLAG(i) if :: ep[i]!=0 && fl[i]>gv[i] -> gv[i]=fl[i] :: else fi
#else
#define FLAG(i) (up[i] && ep[i]!=0 && fl[i]>0)
#define KEEPFLAG(i) skip
#endif
#ifdef FOREIGN
byte ff, fw; bit fv;     /* the foreign client: its validity, its wait, has it seen the record      */
#define FF (ff>0)
#define FSTALE fv=0; fw=0
#else
#define FF 0
#define FSTALE skip
#endif
#ifdef ONLY_S2
#define S(x) skip
#else
#define S(x) assert(x)
#endif
#define S2 assert(FLAG(0)+FLAG(1)+FLAG(2)+FF <= 1)

#define DROPC(j) ck[j]=0; ce[j]=0; ch[j]=0; cl[j]=0; cs[j]=0
#define DROPA(j) ak[j]=0; ae[j]=0; ah[j]=0; ad[j]=0
#define DROPV(j) vw[j]=0; wt[j]=0; vf[j]=0
/* a request that was given up arrives late, or never */
#ifdef LATES             /* at most so many of them */
byte lates = LATES;
#define LATEOK lates>0
#define LATE1 lates--
#else
#define LATEOK 1
#define LATE1 skip
#endif
#define GIVEUP(j) if :: ck[j]!=0 && cs[j]==0 && LATEOK -> LATE1; ak[j]=ck[j]; ae[j]=ce[j]; ah[j]=ch[j]; ad[j]=0 :: else fi; DROPC(j)
#ifdef NO_COND           /* mutant: writes are not conditional on the version */
#define LOSES(k) 0
#else
#define LOSES(k) (k!=0 && k!=MAKE)
#endif
#define STALE(j) DROPV(j); if :: cs[j]==1 -> cs[j]=2 :: else fi; \
  if :: cs[j]==0 && LOSES(ck[j]) -> DROPC(j) :: else fi; if :: LOSES(ak[j]) -> DROPA(j) :: else fi
#define WRITTEN STALE(0); STALE(1); STALE(2); FSTALE
#ifdef HAND_NEXT         /* mutant: the hand-over names the successor with epoch + 1, which confirms THAT one */
bit HN;                  /* the record names a successor */
#define GIVES(h) SE=SE+(h!=0 && SE<EMAX); HN=(h!=0)
#define NAMED HN=0
#else
#define GIVES(h) skip
#define NAMED skip
#endif
#ifdef MAKE_CLAIMS       /* mutant: whoever finds no record makes one in its own name, and leads */
#define MADE(i,e) SH=i+1; SE=e
#else
#define MADE(i,e) SH=UNKNOWN; SE=0
#endif
/* the successor that is named leads by no record that only names it: that its life has ended is true enough */
#define NAMES(kd,h) (kd==GIVE && h!=0)
#define WRITE(i,kd,e,h) SX=0; NAMED; \
  if :: kd==CLAIM || kd==RENEW -> SH=i+1; SE=e :: kd==GIVE -> SH=(h!=0 -> h : FREE); GIVES(h) :: kd==MAKE -> MADE(i,e) fi

/* the epoch of a claim.  Made anew: at least the wall clock (ms), which is above all that was ever claimed */
#ifdef SEED_KNOWN        /* mutant: the clock only when nobody knows anything */
#define NEXT(i) (1+MX(kn[i],SE))
#else
#define NEXT(i) (SH==UNKNOWN || SE==0 -> 1+MX(gm,kn[i]) : 1+MX(kn[i],SE))
#endif
/* who may write */
#ifdef NOTAG             /* mutant: any release voids, whatever its epoch */
#define RELEASED(j) (rl[j]!=0)
#else
#define RELEASED(j) (rl[j]>=SE)
#endif
#define BYRELEASE(i) ((SH==1 && i!=0 && RELEASED(0)) || (SH==2 && i!=1 && RELEASED(1)) || (SH==3 && i!=2 && RELEASED(2)))
#ifdef NO_WAIT           /* mutant: does not wait for the holder's lease */
#define OVER(i) 1
#else
#define OVER(i) (wt[i]==0)
#endif
#ifdef NO_OWN            /* the holder's own name counts for nothing */
#define OWN(i) 0
#elif defined(ID_ALONE)  /* mutant: members 0 and 1 have one id (a copied state folder), and no home tells them apart */
#define OWN(i) ((SH==1 || SH==2) && i<2)
#else
#define OWN(i) (SH==i+1)
#endif
#if defined(PROOF) || defined(PROOF_FALSE) || defined(PROOF_KEPT)
#define ENDED (SD && SH>=1 && SH<=3)
#else
#define ENDED 0
#endif
#define MAY(i) (SH==FREE || OWN(i) || BYRELEASE(i) || OVER(i) || (SH==UNKNOWN && vf[i]) || ENDED)
#ifdef LEN_RECORD        /* mutant: the length is the record's, though it was shortened by hand */
#define LEN (SX -> 0 : DF)
#else
#define LEN DF           /* max(record, own lease, the longest seen) */
#endif
#ifdef WAIT_FROM_REQUEST /* mutant: the wait counts from the sending of the read (the record may have been renewed since) */
byte rq[3]; bit rs[3];
#define ASKREAD(i) :: d_step { up[i] && !rs[i] -> rs[i]=1; rq[i]=LEN }
#define ASKED(i) rs[i]
#define LENR(i) rq[i]; rq[i]=0; rs[i]=0
#define RTICK(i) DEC(rq[i])
#else
#define ASKREAD(i)
#define ASKED(i) 1
#define LENR(i) LEN
#define RTICK(i) skip
#endif
#ifdef NO_VF             /* (f) does not ask whether the flag is on */
#define VF(i) 1
#else
#define VF(i) FLAG(i)
#endif
#ifdef LEASE_FROM_ANSWER /* mutant: the flag counts from the answer */
#define LEFT(i) DL
#else
#define LEFT(i) cl[i]
#endif
#ifdef NO_S3
#define HEARD(i) 1
#else
#define HEARD(i) (kn[i]<=ce[i])
#endif
#define LEAD(i) S(led[ce[i]]==0); /* S1 */ S(ce[i]>=kn[i]); /* S3 */ S(rl[i]<ce[i]); /* S4 */ \
  led[ce[i]]=i+1; ep[i]=ce[i]; fl[i]=LEFT(i); kn[i]=MX(kn[i],ce[i])
#ifdef EARLY_FLAG        /* mutant: leads from the sending of the write on */
#define ATSEND(i) LEAD(i); S2
#else
#define ATSEND(i) skip
#endif
#ifdef MAKE_CLAIMS
#define ISCLAIM(i) (ck[i]==CLAIM || ck[i]==MAKE)
#define MAKEE(i) 1+MX(gm,kn[i])
#define MAKEL DL
#else
#define ISCLAIM(i) (ck[i]==CLAIM)
#define MAKEE(i) 0
#define MAKEL 0
#endif
/* what a member has said at most: below what it leads, or has asked for and not given up */
#ifdef HAND_NEXT
#define CONFIRM(i) (HN && SH==i+1 && led[SE]==0 && SE>=kn[i])
#define CNEXT(i) (CONFIRM(i) -> SE : NEXT(i))
#define LIM(i) (ep[i]!=0 -> ep[i]-1 : (ISCLAIM(i) -> ce[i]-1 : kn[i]))
#else
#define CNEXT(i) NEXT(i)
#define LIM(i) (ep[i]!=0 -> ep[i]-1 : (ISCLAIM(i) -> ce[i]-1 : kn[i]))
#endif
#define SAYS(i) (LIM(i)<kn[i] -> LIM(i) : kn[i])
#ifdef LATE_ANSWER       /* mutant: the answer to a request counts although the reign, or the claim, was given up */
#define QUIT(i) if :: ck[i]==0 || ck[i]==MAKE -> skip :: else fi
#define LIMQ(i) (ep[i]!=0 -> ep[i]-1 : kn[i])
#undef SAYS
#define SAYS(i) (LIMQ(i)<kn[i] -> LIMQ(i) : kn[i])
#define REIGNS(i) 1
#else
#define QUIT(i) GIVEUP(i)
#define REIGNS(i) (ep[i]==ce[i])
#endif
#ifdef HAND_FLAG_ON      /* mutant: hands over with its flag on, off when the answer comes */
#define GIVEOFF(i) skip
#define GIVENOFF(i) ep[i]=0; fl[i]=0
#else
#define GIVEOFF(i) ep[i]=0; fl[i]=0
#define GIVENOFF(i) skip
#endif
#ifdef NO_STORE          /* mutant: the name survives a restart, the epoch does not */
#define FORGET(i) kn[i]=0
#else
#define FORGET(i) skip
#endif
#ifdef RESUME            /* mutant: who finds that it still holds the record goes on with the epoch that it had given up */
#define RESUMES(i) (SH==i+1 && (ep[i]==SE || (ep[i]==0 && led[SE]==i+1)))
#define RESUMED(i) ep[i]=ce[i]
#undef REIGNS
#define REIGNS(i) (led[ce[i]]==i+1)
#else
#define RESUMES(i) (SH==i+1 && ep[i]!=0 && ep[i]==SE)
#define RESUMED(i) skip
#endif
#define DEATH(i) KEEPFLAG(i); ep[i]=0; fl[i]=0; DROPV(i); GIVEUP(i); up[i]=0; crashes--; if :: ak[i]!=0 -> ad[i]=1 :: else fi; SD=(SH==i+1 -> 1 : SD)

#ifdef LEAN
#define GIVES0(i) 
#else
#define GIVES0(i) HANDS(i,0)
#endif
/* It may also name the next one, or release, over a record that names a successor in the epoch that it has led, and
 * over a claim of one that has ended, or has said that it leads it no more. */
#ifdef GIVES_ANY         /* mutant: over whatever names the successor, its claim as well */
#define GAVE(i,h) (SH>=1 && SH<=3 && h!=SH && ep[i]==0 && (led[SE]==i+1 || (SE>0 && led[SE-1]==i+1)))
#else
#define GAVE(i,h) (SH>=1 && SH<=3 && h!=SH && ep[i]==0 && (led[SE]==i+1 || ENDED || BYRELEASE(i)))
#endif
#define HANDS(i,h) :: d_step { up[i] && ck[i]==0 && vw[i] && (SH==i+1 || GAVE(i,h)) -> GIVEOFF(i); ck[i]=GIVE; ce[i]=SE; ch[i]=h }

#define NODE(i) \
 /* reads: the watch, or an answer.  An old one is the same as none: its version fails */ \
 ASKREAD(i) \
 :: d_step { up[i] && !vw[i] && SH!=ABSENT && ASKED(i) -> vw[i]=1; wt[i]=LENR(i); kn[i]=MX(kn[i],SE); if :: SH==UNKNOWN && VF(i) -> vf[i]=1 :: else fi } \
 :: d_step { up[i] && ck[i]==0 && vw[i] && MAY(i) && CNEXT(i)<=EMAX && !RESUMES(i) && (i==0 || started) -> started=1; \
      ck[i]=CLAIM; ce[i]=CNEXT(i); cl[i]=DL; gm=MX(gm,ce[i]); ATSEND(i) } \
 :: d_step { up[i] && ck[i]==0 && vw[i] && RESUMES(i) -> ck[i]=RENEW; ce[i]=SE; cl[i]=DL } \
 GIVES0(i) \
 MAKES(i) \
 /* the request arrives; the answer arrives; it is given up (then it may still arrive) */ \
 :: d_step { ck[i]!=0 && cs[i]==0 && (ck[i]!=MAKE || SH==ABSENT) -> WRITE(i,ck[i],ce[i],ch[i]); SD=NAMES(ck[i],ch[i]); cs[i]=3; WRITTEN; cs[i]=1 } \
 :: d_step { ck[i]==MAKE && cs[i]==0 && SH!=ABSENT -> DROPC(i) } \
 :: d_step { cs[i]!=0 -> \
      if :: ISCLAIM(i) && LEFT(i)>0 && HEARD(i) && NOTLED(i) -> LEAD(i) \
         :: ck[i]==RENEW && REIGNS(i) -> fl[i]=MX(fl[i],LEFT(i)); RESUMED(i); S(rl[i]<ep[i]) \
         :: ck[i]==GIVE -> GIVENOFF(i) :: else fi; \
      if :: cs[i]==1 -> vw[i]=1; wt[i]=LEN; kn[i]=MX(kn[i],SE) :: else fi; DROPC(i); S2 } \
 :: d_step { ck[i]!=0 -> GIVEUP(i) } \
 :: d_step { ak[i]!=0 && (ak[i]!=MAKE || SH==ABSENT) -> WRITE(i,ak[i],ae[i],ah[i]); SD=(ad[i] || NAMES(ak[i],ah[i])); DROPA(i); WRITTEN } \
 :: d_step { ep[i]!=0 -> ep[i]=0; fl[i]=0; QUIT(i) }                                   /* step down, or the lease is over */ \
 :: d_step { up[i] && rl[i]<SAYS(i) -> rl[i]=SAYS(i) }                                 /* some frame of it is heard */ \
 :: d_step { up[i] && ISCLAIM(i) && kn[i]<ce[i] -> kn[i]=ce[i] }                        /* the disk has it */ \
 :: d_step { up[i] && crashes>0 -> DEATH(i) } \
 :: d_step { !up[i] && i<N -> up[i]=1; FORGET(i) } \
 PROOFS(i)
#ifdef EARLY_FLAG
#define NOTLED(i) (led[ce[i]]!=i+1)
#else
#define NOTLED(i) 1
#endif
#if DELS>0 || defined(FRESH)
#define MAKES(i) :: d_step { up[i] && ck[i]==0 && SH==ABSENT && MAKEE(i)<=EMAX && (i==0 || started) -> started=1; ck[i]=MAKE; ce[i]=MAKEE(i); cl[i]=MAKEL; gm=MX(gm,ce[i]) }
#else
#define MAKES(i)
#endif
#if defined(PROOF_FALSE)     /* mutant: a middlebox refuses for a process that lives */
#define PROOFS(i) :: d_step { SH==i+1 && !SD -> SD=1 }
#elif defined(PROOF_KEPT)    /* mutant: that one life is dead is held against the record of a later one */
bit dd[3];
#define PROOFS(i) :: d_step { !up[i] && !dd[i] -> dd[i]=1 } :: d_step { SH==i+1 && dd[i] && !SD -> SD=1 }
#else
#define PROOFS(i)
#endif

/* somebody deletes the record, or empties it, or shortens its length by hand */
#ifdef EDIT_IS_RELEASE       /* mutant: an empty holder is a release */
#define EMPTIED FREE
#else
#define EMPTIED UNKNOWN
#endif
#define DELETE :: d_step { dels>0 && SH!=ABSENT -> SH=ABSENT; SE=0; SD=0; SX=0; dels--; WRITTEN }
#ifdef EDIT
#define EDITS :: d_step { dels>0 && SH!=ABSENT -> SH=EMPTIED; SD=0; dels--; WRITTEN } :: d_step { dels>0 && SH!=ABSENT -> SX=1; dels--; WRITTEN }
#else
#define EDITS
#endif
/* another client of the same record: takes it when released, or seen unchanged for the length; keeps its name in it to the end */
#ifdef FOREIGN
#define OTHER \
 :: d_step { !fv && SH!=ABSENT && SH!=ALIEN -> fv=1; fw=DF } \
 :: d_step { fv && (SH==FREE || fw==0) -> WRITE(0,GIVE,0,0); SH=ALIEN; SD=0; WRITTEN; ff=DL; S2 } \
 :: d_step { SH==ALIEN && ff>0 && ff<DL+(DL==1) -> WRITTEN; ff=DL; S2 } \
 :: d_step { SH==ALIEN -> ff=0; SH=EMPTIED; WRITTEN }
#define FTICK DEC(ff); DEC(fw)
#else
#define OTHER
#define FTICK skip
#endif

#define DEC(x) x = x - (x>0)
#ifdef FLAG_SURVIVES
#define DECG(i) DEC(gv[i])
#else
#define DECG(i) skip
#endif
#define TICK(i) DEC(fl[i]); DEC(cl[i]); DEC(wt[i]); DECG(i); RTICK(i)

#ifdef LIVE
/* Faults stop.  What is still on its way is lost (that it arrived first is another reachable state).  m: who reaches the
 * store from now on.  One candidate at a time asks: the highest of those that can lead.      */
#ifdef NO_ELECTABLE          /* mutant: the highest that is up, whether it reaches the store or not */
#define CANDIDATE(j) up[j]
#else
#define CANDIDATE(j) (up[j] && (m&(1<<j)))
#endif
#ifdef NO_EXPIRY             /* mutant: only releases count */
#define TMAY(j) (SH==FREE || OWN(j))
#else
#define TMAY(j) (SH==FREE || OWN(j) || wt[j]==0 || (SH==UNKNOWN && FLAG(j)))
#endif
#ifdef NO_MAKE               /* mutant: nobody makes a record that is missing */
#define TMAKE skip
#else
#define TMAKE SH=UNKNOWN; SE=0; WRITTEN
#endif
byte m, cand; bit quiet, some;
#define ROUNDS (DL+DF+4)
#define RENEWS(j) if :: FLAG(j) && (m&(1<<j)) && SH==j+1 && SE==ep[j] -> WRITTEN; fl[j]=DL; vw[j]=1; wt[j]=DF :: else fi
#define READS(j)  if :: up[j] && (m&(1<<j)) && !vw[j] && SH!=ABSENT -> vw[j]=1; wt[j]=DF; kn[j]=MX(kn[j],SE) :: else fi
#define ASKS(j)   if :: cand==j && CANDIDATE(j) && (m&(1<<j)) && SH==ABSENT -> TMAKE \
                     :: cand==j && CANDIDATE(j) && (m&(1<<j)) && vw[j] && TMAY(j) && !(SH==j+1 && ep[j]==SE && FLAG(j)) && !(some && SH!=UNKNOWN) -> \
                        SE=1+MX(kn[j],MX(SE,(SH==UNKNOWN -> gm : 0))); SH=j+1; WRITTEN; ep[j]=SE; fl[j]=DL; kn[j]=SE; vw[j]=1; wt[j]=DF; S2 :: else fi
#define SETTLE(mask) :: d_step { !quiet && ((up[0]+2*up[1]+4*up[2])&mask)!=0 -> quiet=1; m=mask; \
   DROPC(0); DROPC(1); DROPC(2); DROPA(0); DROPA(1); DROPA(2); crashes=0; dels=0; k=0; \
   do :: k<ROUNDS -> k++; \
      cand=9; if :: CANDIDATE(2) -> cand=2 :: !(CANDIDATE(2)) && CANDIDATE(1) -> cand=1 :: !(CANDIDATE(2)) && !(CANDIDATE(1)) && CANDIDATE(0) -> cand=0 :: else fi; \
      RENEWS(0); RENEWS(1); RENEWS(2); some=(FLAG(0)||FLAG(1)||FLAG(2)); \
      if :: some && FLAG(0) && (m&1) -> cand=0 :: some && FLAG(1) && (m&2) -> cand=1 :: some && FLAG(2) && (m&4) -> cand=2 :: else fi; \
      READS(0); READS(1); READS(2); ASKS(0); ASKS(1); ASKS(2); READS(0); READS(1); READS(2); ASKS(0); ASKS(1); ASKS(2); \
      if :: k<ROUNDS -> TICK(0); TICK(1); TICK(2) :: else fi \
      :: else -> break od; \
   assert((FLAG(0) && (m&1)) || (FLAG(1) && (m&2)) || (FLAG(2) && (m&4))); \
   CLEARLED; SH=0; SE=0; SD=0; SX=0; CLEAR(0); CLEAR(1); CLEAR(2); started=0; gm=0; k=0; m=0; cand=0; some=0 }
#define CLEAR(j) up[j]=0; ep[j]=0; fl[j]=0; kn[j]=0; rl[j]=0; DROPV(j)
#define CLEARLED r=1; do :: r<=EMAX -> led[r]=0; r++ :: else -> r=0; break od
#define SETTLES SETTLE(1) SETTLE(2) SETTLE(3) SETTLE(4) SETTLE(5) SETTLE(6) SETTLE(7)
#else
#define SETTLES
#endif

active proctype world() {
  d_step { up[0]=1; up[1]=(N>1); up[2]=(N>2);
#ifdef FRESH
  SH=ABSENT;
#endif
#ifdef RATE
  lg[0]=RATE-1; lg[1]=RATE-1; lg[2]=RATE-1;
#endif
  k=0 }
end: do
  NODE(0) NODE(1) NODE(2)
  HANDS(0,2) HANDS(1,1)
#if N>2
  HANDS(0,3) HANDS(1,3) HANDS(2,1) HANDS(2,2)
#endif
#define TOP MX(kn[0],MX(kn[1],kn[2]))
  :: d_step { kn[0]<TOP -> kn[0]=TOP } :: d_step { kn[1]<TOP -> kn[1]=TOP } :: d_step { kn[2]<TOP -> kn[2]=TOP }
#if DELS>0
  DELETE EDITS
#endif
  OTHER
#ifndef RATE
  :: d_step { FLAG(0)||FLAG(1)||FLAG(2)||FF||cl[0]+cl[1]+cl[2]+wt[0]+wt[1]+wt[2]>0 -> TICK(0); TICK(1); TICK(2); FTICK }
#else
#define TK(s,i) if :: s -> lg[i]=0 :: else -> lg[i]=(lg[i]<RATE-1 -> lg[i]+1 : lg[i]); TICK(i) fi
#define RT(s0,s1,s2) :: d_step { (!s0||lg[0]==RATE-1) && (!s1||lg[1]==RATE-1) && (!s2||lg[2]==RATE-1) -> TK(s0,0); TK(s1,1); TK(s2,2); FTICK }
  RT(0,0,0) RT(1,0,0) RT(0,1,0) RT(1,1,0)
#if N>2
  RT(0,0,1) RT(1,0,1) RT(0,1,1)
#endif
#endif
  SETTLES
  od
}
