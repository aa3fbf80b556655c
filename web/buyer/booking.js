// My seat: reserving it, giving it back, and what to tell me about it.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { callPatiently, pause } from '/static/shared/api.js';
import { bad, calm, good, whyNot } from '/static/shared/reasons.js';
import { onSeatOfOtherWindow, rememberSeat, rememberedGuest, rememberedSeat } from '/static/buyer/visitor.js';

const MINE = '/api/v1/seats/reservation';
const RESERVE = '/api/v1/seats/reservation/fcfs';
const STRANGER = ['unauthorized', 'missing_user']; // this server reserves for those who are signed in
const TOLD = ['sold_out', 'duplicate', 'already_reserved', 'contention', 'not_reserved'];

function explain(refused) {
  const { reason, body } = refused;
  if (reason === 'validation') return { ...bad('reason.validation'), field: refused.field };
  if (STRANGER.includes(reason)) return bad('reason.stranger');
  return TOLD.includes(reason) ? bad(`reason.${reason}`, { seat: body.seat?.name }) : whyNot(refused);
}

const seatOf = ({ seat, sequence, reserved_by: owner }) =>
  seat && { id: seat.id, name: seat.name, sequence: sequence ?? null, owner };

// A guest whose cookie is gone, or who was not let in when the page opened, gets a cookie now.
async function reserveOnce(buyer, details, onWait) {
  const attempt = () => callPatiently(RESERVE, { method: 'POST', body: details }, onWait);
  try {
    return await attempt();
  } catch (refused) {
    if (refused.reason !== 'missing_user' || !buyer.becomeGuest) throw refused;
    await buyer.becomeGuest(onWait);
    return attempt();
  }
}

// buyer: as useBuyer gives it. Until then the seat that is remembered is shown, whoever's it is.
// {seat, underWay: null | 'reserving' | 'givingBack', message, tell, reserve, giveBack, check}
export function useBooking(buyer) {
  const [seat, setSeat] = useState(rememberedSeat);
  const [underWay, setUnderWay] = useState(null);
  const [message, tell] = useState(null);
  const busy = useRef(false); // at once, where a state would let a fast second click through
  const seatNow = useRef(seat);
  const buyerNow = useRef(buyer); // for answers that come when somebody else has signed in
  buyerNow.current = buyer;

  const keep = (mine) => {
    seatNow.current = mine;
    rememberSeat(mine);
    setSeat(mine);
  };

  useEffect(() => onSeatOfOtherWindow((mine) => {
    seatNow.current = mine;
    setSeat(mine);
    tell(null);
  }), []);

  // Asks the server which seat is mine.
  const check = useCallback(async () => {
    if (busy.current || !buyer?.id) return;
    const before = seatNow.current;
    try {
      const answer = await callPatiently(MINE);
      // Something newer may be known meanwhile.
      if (busy.current || seatNow.current !== before || buyerNow.current?.id !== buyer.id) return;
      const mine = seatOf(answer);
      if (before && !mine) tell(calm('seatGone', { seat: before.name }));
      if (mine?.id !== before?.id || mine?.sequence !== before?.sequence) keep(mine);
    } catch {
      // What was remembered stays; the banner tells that the connection is lost.
    }
  }, [buyer?.id]);

  // Somebody else's seat is not shown any longer; mine is asked for.
  useEffect(() => {
    if (!buyer) return;
    const other = seatNow.current && seatNow.current.owner !== buyer.id ? seatNow.current : null;
    if (other) {
      keep(null);
      tell(other.owner === rememberedGuest() ? calm('guestSeat', { seat: other.name }) : null);
    }
    check();
  }, [buyer?.id]);

  // Who presses the button before the page knows who it is has pressed it all the same.
  const whoBuys = async () => {
    while (!buyerNow.current) await pause(20);
    return buyerNow.current;
  };

  const attempt = async (what, work) => {
    if (busy.current) return;
    busy.current = true;
    setUnderWay(what);
    tell(null);
    try {
      await work((number, attempts) => tell(calm('waiting', { attempt: number, attempts })));
    } catch (refused) {
      tell(explain(refused));
      return refused;
    } finally {
      busy.current = false;
      setUnderWay(null);
    }
  };

  const reserve = async (details) => {
    const refused = await attempt('reserving', async (onWait) => {
      const answer = await reserveOnce(await whoBuys(), details, onWait);
      keep(seatOf(answer));
      tell(good('reserved', { seat: answer.seat.name }));
    });
    if (refused?.reason === 'already_reserved') {
      keep(seatOf(refused.body) ?? seatNow.current);
      check();
    }
    if (refused?.reason === 'duplicate') {
      await pause(1000); // the other attempt may have won a seat for me
      check();
    }
  };

  const giveBack = async () => {
    const given = seatNow.current;
    let waited = false;
    const refused = await attempt('givingBack', async (onWait) => {
      const waiting = (...progress) => {
        waited = true;
        onWait(...progress);
      };
      await callPatiently(MINE, { method: 'DELETE' }, waiting);
      keep(null);
      tell(calm('givenBack', { seat: given.name }));
    });
    if (refused?.reason !== 'not_reserved') return;
    keep(null);
    if (waited) tell(calm('givenBack', { seat: given.name })); // the first attempt worked, its answer was lost
  };

  return { seat, underWay, message, tell, reserve, giveBack, check };
}

// The show does not change while the page is open; without it nothing can be done, so never give up.
export async function fetchShow() {
  for (let round = 0; ; round++) {
    try {
      return (await callPatiently('/api/v1/show')).show;
    } catch {
      await pause(2000 + Math.random() * 3000);
    }
  }
}
