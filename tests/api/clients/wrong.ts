// Mistakes that the types must catch. A line below @ts-expect-error that compiles is an error.
import type { ErrorResponse, FcfsSuccessResponse, Operations, Seat } from '../../../api/types';

// @ts-expect-error: a seat has a name
export const seat: Seat = { id: 1, status: true };

export const failure: ErrorResponse = {
  success: false,
  // @ts-expect-error: there is no such reason
  reason: 'soldout',
  message: '',
  traceId: '',
};

// @ts-expect-error: userTtlRemaining may be missing
export const seconds = (answer: FcfsSuccessResponse): number => answer.userTtlRemaining;

// A token may name the user instead of the header.
export const withToken: Operations['reserveSeat']['headers'] = {};

// @ts-expect-error: a user's name is text
export const headers: Operations['reserveSeat']['headers'] = { 'X-User-Id': 1 };

// @ts-expect-error: whoever has no seat gets null
export const mine = (answer: Operations['getMySeat']['answers'][200]): string => answer.seat.name;
