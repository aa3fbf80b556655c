// The page of the first version, as it was written: it must go on working, unchanged.
async function reserveOnce(phone?: string) {
  const res = await fetch('/api/v1/seats/reservation/fcfs', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ phone }),
  });
  const data = await res.json();
  if (data.success) return { state: 'SUCCESS', seatId: data.seat_id };
  switch (data.reason) {
    case 'sold_out':
      return { state: 'ENDED' };
    case 'already_reserved':
      return { state: 'EXISTING', seatId: data.seat_id };
    case 'contention':
      return { state: 'RETRYABLE' };
    default:
      return { state: 'UNKNOWN' };
  }
}
