// My seat: reserving it, giving it back, and what to tell me about it.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { callPatiently, pause } from '/static/shared/api.js';
import { onSeatOfOtherWindow, rememberSeat, rememberedSeat, visitorId } from '/static/buyer/visitor.js';

const MINE = '/api/v1/seats/reservation';
const RESERVE = '/api/v1/seats/reservation/fcfs';
const UNAVAILABLE = ['service_unavailable', 'redis_error', 'sequence_unavailable', 'overloaded'];
const TOLD = ['sold_out', 'duplicate', 'already_reserved', 'contention', 'not_reserved', 'missing_user', 'unreachable'];

// A message names its words and values, not a text, so that it changes with the language.
const good = (key, values) => ({ tone: 'good', key, values });
const calm = (key, values) => ({ tone: 'calm', key, values });

function explain(refused) {
  const { reason, body } = refused;
  if (reason === 'validation') return { tone: 'bad', key: 'reason.validation', field: refused.field };
  if (TOLD.includes(reason)) return { tone: 'bad', key: `reason.${reason}`, values: { seat: body.seat?.name } };
  if (UNAVAILABLE.includes(reason) || refused.passing) return { tone: 'bad', key: 'reason.unavailable' };
  return { tone: 'bad', key: 'reason.other', values: { trace: body.traceId ?? '–' } };
}

const seatOf = (answer) =>
  answer.seat && { id: answer.seat.id, name: answer.seat.name, sequence: answer.sequence ?? null };

// {seat, underWay: null | 'reserving' | 'givingBack', message, tell, reserve, giveBack, check}
export function useBooking(userHeader) {
  const [seat, setSeat] = useState(rememberedSeat);
  const [underWay, setUnderWay] = useState(null);
  const [message, tell] = useState(null);
  const busy = useRef(false); // at once, where a state would let a fast second click through
  const seatNow = useRef(seat);
  const headers = { [userHeader]: visitorId() };

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
    if (busy.current) return;
    const before = seatNow.current;
    try {
      const answer = await callPatiently(MINE, { headers });
      if (busy.current || seatNow.current !== before) return; // something newer is known meanwhile
      const mine = seatOf(answer);
      if (before && !mine) tell(calm('seatGone', { seat: before.name }));
      if (mine?.id !== before?.id || mine?.sequence !== before?.sequence) keep(mine);
    } catch {
      // What was remembered stays; the banner tells that the connection is lost.
    }
  }, [userHeader]);

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
      const answer = await callPatiently(RESERVE, { method: 'POST', headers, body: details }, onWait);
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
      await callPatiently(MINE, { method: 'DELETE', headers }, waiting);
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

