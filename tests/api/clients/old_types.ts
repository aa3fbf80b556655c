// The types that programs of the first API were written with, in the same shapes: whatever ours can be must fit in.
import type {
  FcfsErrorResponse, FcfsReason, FcfsSuccessResponse, Operations, Reason, Seat, SeatDetailResponse, SeatsListResponse,
} from '../../../api/types';

interface OldSeat { id: number; status: boolean }
interface OldSeatsListResponse { success: true; seats: OldSeat[] }
interface OldSeatDetailResponse { success: true; seat: OldSeat }
type OldReason =
  | 'already_reserved' | 'contention' | 'duplicate' | 'internal_error' | 'missing_user' | 'not_found' | 'redis_error'
  | 'sequence_unavailable' | 'service_unavailable' | 'sold_out' | 'validation';
interface OldFcfsSuccessResponse {
  success: true;
  seat: OldSeat;
  remainingSeats?: number;
  userTtlRemaining?: number;
  sequence: number;
}
interface OldErrorResponse { success: false; reason: OldReason; message?: string }

/** Does not compile unless every Ours is a Theirs. */
type Fits<Theirs, Ours extends Theirs> = Ours;
type Wrapped = { gatewayWrapped: true };
type Answers<Name extends keyof Operations, Status extends keyof Operations[Name]['answers']> =
  Exclude<Operations[Name]['answers'][Status], Wrapped>;

export type Checked = [
  Fits<OldSeat, Seat>,
  Fits<OldSeatsListResponse, SeatsListResponse>,
  Fits<OldSeatDetailResponse, SeatDetailResponse>,
  Fits<OldFcfsSuccessResponse, FcfsSuccessResponse>,
  Fits<OldErrorResponse, FcfsErrorResponse>,
  Fits<OldReason, FcfsReason>,
  Fits<FcfsReason, OldReason>,
  Fits<Reason, OldReason>,
  Fits<OldSeatsListResponse | OldSeat[], Answers<'getSeats', 200>>,
  Fits<OldSeatDetailResponse, Answers<'getSeat', 200>>,
  Fits<OldErrorResponse, Answers<'getSeat', 400 | 404 | 503>>,
  Fits<OldFcfsSuccessResponse, Answers<'reserveSeat' | 'joinFcfs', 200>>,
  Fits<OldErrorResponse, Answers<'reserveSeat' | 'joinFcfs', 400 | 404 | 409 | 503>>,
];

// What an old program does with values of ours.
export function countFree(list: SeatsListResponse): number {
  const old: OldSeatsListResponse = list;
  return old.seats.filter((seat) => !seat.status).length;
}

export function tell(answer: FcfsSuccessResponse | FcfsErrorResponse): string {
  const old: OldFcfsSuccessResponse | OldErrorResponse = answer;
  return old.success ? `seat ${old.seat.id}, number ${old.sequence}` : `${old.reason}: ${old.message ?? ''}`;
}
