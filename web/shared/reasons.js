// Why something did not work, as messages. A message names its words and values, not a text, so that it changes
// with the language: {tone: 'good' | 'calm' | 'bad', key, values}.

export const good = (key, values) => ({ tone: 'good', key, values });
export const calm = (key, values) => ({ tone: 'calm', key, values });
export const bad = (key, values) => ({ tone: 'bad', key, values });

const UNAVAILABLE = ['service_unavailable', 'redis_error', 'sequence_unavailable', 'overloaded'];

function tooMany(retryAfterMs) {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return seconds < 100
    ? bad('reason.rate_limited', { count: seconds })
    : bad('reason.rate_limited_minutes', { count: Math.ceil(seconds / 60) });
}

// What any call may be refused for.
export function whyNot(refused) {
  const { status, reason, body } = refused;
  if (status === 429) return tooMany(refused.retryAfterMs);
  if (reason === 'unreachable') return bad('reason.unreachable');
  if (UNAVAILABLE.includes(reason) || refused.passing) return bad('reason.unavailable');
  return bad('reason.other', { trace: body.traceId ?? '–' });
}

// The same for a form with these fields: {field: key of its words}.
export function whyNotForm(refused, fields) {
  if (refused.reason !== 'validation') return { message: whyNot(refused) };
  const { field } = refused;
  return field in fields ? { wrong: { [field]: fields[field] } } : { message: whyNot(refused) };
}
