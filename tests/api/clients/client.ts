// A small client as a front-end developer would write it with api/types.ts. old-clients.test.mjs compiles and runs it.
import type { Anywhere, FcfsErrorResponse, FcfsSuccessResponse, Operations } from '../../../api/types';

type Name = keyof Operations;
type Part<Row, Key extends string> = Row extends { [key in Key]?: infer Value } ? Value : undefined;
type Statuses<N extends Name> = keyof Operations[N]['answers'];
type Answer<N extends Name> =
  | { [Status in Statuses<N>]: { status: Status; body: Operations[N]['answers'][Status] } }[Statuses<N>]
  | { status: Exclude<keyof Anywhere, Statuses<N>>; body: Anywhere[keyof Anywhere] };

interface Request<N extends Name> {
  headers?: Part<Operations[N], 'headers'>;
  body?: Part<Operations[N], 'body'>;
}

export class Client {
  constructor(private readonly origin: string) {}

  /** The method and path are checked against the operation's name. */
  async call<N extends Name>(
    name: N, method: Operations[N]['method'], path: Operations[N]['path'], { headers, body }: Request<N> = {},
  ): Promise<Answer<N>> {
    const response = await fetch(this.origin + path, {
      method, headers: headers as Record<string, string> | undefined, body: body && JSON.stringify(body),
    });
    return { status: response.status, body: await response.json() } as Answer<N>;
  }

  async reserve(user: string): Promise<string> {
    const answer = await this.call('reserveSeat', 'POST', '/api/v1/seats/reservation/fcfs', {
      headers: { 'X-User-Id': user }, body: { userName: 'Alice', phone: '010-1234-5678' },
    });
    switch (answer.status) {
      case 200: return `got ${(answer.body as FcfsSuccessResponse).seat.name}`;
      case 409: return describeRefusal(answer.body as FcfsErrorResponse);
      default: return 'try later';
    }
  }

  async freeSeats(): Promise<number> {
    const answer = await this.call('getSeats', 'GET', '/api/v1/seats');
    if (answer.status !== 200 || !('seats' in answer.body)) return 0;
    return answer.body.seats.filter((seat) => !seat.status).length;
  }
}

/** Every reason has its case: one that is added to FcfsReason does not compile without an answer here. */
function describeRefusal({ reason, seat }: FcfsErrorResponse): string {
  switch (reason) {
    case 'already_reserved': return `had ${seat?.name}`;
    case 'sold_out': return 'sold out';
    case 'duplicate':
    case 'contention':
    case 'internal_error':
    case 'redis_error':
    case 'sequence_unavailable':
    case 'service_unavailable': return 'try again';
    case 'missing_user':
    case 'not_found':
    case 'validation': return 'our mistake';
  }
}
