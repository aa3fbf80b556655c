// Made by ./dev fmt from api/openapi.yaml.

/** One seat of the house. */
export interface Seat {
  /** Its number. */
  id: number;
  /** What is written on it. */
  name: string;
  /** Whether it is taken. */
  status: boolean;
}

/** The seats without an envelope. */
export type SeatsArray = Seat[];

export interface SeatsListResponse {
  success: true;
  seats: Seat[];
}

export interface SeatDetailResponse {
  success: true;
  seat: Seat;
}

/** A performance and the shape of its house. */
export interface Show {
  scheduleId: string;
  title: string;
  /** The title in Korean. */
  titleKo: string;
  venue: string;
  /** The venue in Korean. */
  venueKo: string;
  /** Null while it is not fixed. */
  startsAt: string | null;
  /** How many seats the house has. */
  seats: number;
  /** How many of them are in a row. */
  rowLength: number;
  /** The header that names the user. */
  userHeader: string;
}

export interface ShowResponse {
  success: true;
  show: Show;
}

/** The data of a `snapshot` event, which replaces everything that was known. */
export interface SnapshotEvent {
  /** The id of the event. */
  version: string;
  /** How many seats the house has. */
  total: number;
  remainingSeats: number;
  rowLength: number;
  /** The numbers of the seats that are taken. */
  taken: number[];
}

/** The data of a `seat` event, with the seats that changed since the event before. */
export interface SeatEvent {
  /** The id of the event. */
  version: string;
  remainingSeats: number;
  seats: Seat[];
}

/** Who will come. */
export interface ReservationRequest {
  /** At most 100 bytes. */
  userName?: string | null;
  /** Another way to write userName. */
  user_name?: string | null;
  /** Like 010-1234-5678 or +821012345678. */
  phone?: string | null;
}

/** A seat was reserved. */
export interface FcfsSuccessResponse {
  success: true;
  seat: Seat;
  /** The seat's number once more. */
  seat_id: number;
  /** The user. */
  reserved_by: string;
  /** How many seconds the user may count on the seat; left out when for ever. */
  userTtlRemaining?: number;
  reason: null;
  /** How many seats were left after this one. */
  remainingSeats: number;
  /** The place in the order of arrival. */
  sequence: number;
}

/** Why an attempt got no new seat. */
export type FcfsReason =
  | 'validation'
  | 'missing_user'
  | 'not_found'
  | 'sold_out'
  | 'duplicate'
  | 'already_reserved'
  | 'contention'
  | 'internal_error'
  | 'service_unavailable'
  | 'redis_error'
  | 'sequence_unavailable';

/** An attempt that got no new seat; with the seat where the user has one. */
export interface FcfsErrorResponse {
  success: false;
  reason: FcfsReason;
  /** A sentence for people. */
  message: string;
  seat?: Seat;
  seat_id?: number | null;
  /** The user. */
  reserved_by?: string;
  userTtlRemaining?: number;
  traceId: TraceId;
}

/** An answer inside another, for looking at it. */
export interface GatewayWrapped {
  gatewayWrapped: true;
  /** The status of the answer. */
  status: number;
  body: FcfsSuccessResponse | FcfsErrorResponse;
}

/** The caller's seat, or null. */
export interface MySeatResponse {
  success: true;
  seat: Seat | null;
  seat_id: number | null;
  /** The user. */
  reserved_by: string;
  userTtlRemaining?: number;
  sequence?: number;
}

export interface GivenBackResponse {
  success: true;
  seat: Seat;
  remainingSeats: number;
}

/** The seat of one's turn was free. */
export interface TurnSuccess {
  success: true;
  seat: number;
}

/** It was not. */
export interface TurnFailure {
  success: false;
  reason: 'already reserved' | 'sold out';
  /** The seat that was tried or is the caller's already. */
  seat?: number;
}

export interface TurnDuplicate {
  success: false;
  reason: 'duplicate request';
}

export interface TurnError {
  success: false;
  error: 'bad request' | 'internal error';
}

export interface ResetRequest {
  seatCount: number;
}

export interface ResetResponse {
  success: true;
  /** How many seats the house has now. */
  seats: number;
}

/** What became of an attempt. */
export type Outcome =
  | 'claimed'
  | 'sold_out'
  | 'duplicate'
  | 'already_reserved'
  | 'seat_taken'
  | 'contention'
  | 'released'
  | 'not_reserved'
  | 'failed';

/** One attempt, or a reset by the operator. */
export interface HistoryLine {
  at: string;
  user: string;
  seat: number | null;
  outcome: Outcome | 'reset';
  sequence: number | null;
}

export interface OverviewResponse {
  success: true;
  seats: {
    total: number;
    free: number;
    taken: number;
  };
  /** How often each outcome came about since this server started. */
  attempts: Record<Outcome, number>;
  /** Newest first. */
  history: HistoryLine[];
}

export interface Health {
  status: 'ok';
}

export interface ReadinessPart {
  ready: boolean;
  /** What is wrong with it. */
  reason?: string;
}

export interface Readiness {
  parts: Record<string, ReadinessPart>;
  ready: boolean;
}

/** Names the request in the server's log. */
export type TraceId = string;

/** Why a request failed, for programs. docs/errors.md explains each. */
export type Reason =
  | 'bad_request'
  | 'missing_user'
  | 'validation'
  | 'unauthorized'
  | 'forbidden'
  | 'csrf'
  | 'queue_token_required'
  | 'not_found'
  | 'method_not_allowed'
  | 'request_timeout'
  | 'already_reserved'
  | 'contention'
  | 'duplicate'
  | 'not_reserved'
  | 'sold_out'
  | 'body_too_large'
  | 'uri_too_long'
  | 'expectation_failed'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'method_not_implemented'
  | 'overloaded'
  | 'redis_error'
  | 'sequence_unavailable'
  | 'service_unavailable'
  | 'version_not_supported';

/** Every failure has this form. */
export interface ErrorResponse {
  success: false;
  reason: Reason;
  /** A sentence for people. */
  message: string;
  traceId: TraceId;
}

/** What each operation takes and what it answers, by status. */
export interface Operations {
  /** What is played, where and when */
  getShow: {
    method: 'GET';
    path: '/api/v1/show';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
    };
    answers: {
      /** The performance and the shape of its house. */
      200: ShowResponse;
      /** `scheduleId` cannot be one. */
      400: ErrorResponse & { reason: 'validation' };
      /** There is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Every seat, and whether it is taken */
  getSeats: {
    method: 'GET';
    path: '/api/v1/seats';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
      /** `array` leaves out the envelope and answers the seats alone. */
      format?: 'array';
    };
    headers?: {
      /** The `ETag` of the copy that one has. */
      'If-None-Match'?: string;
    };
    answers: {
      /** The seats, in order of their numbers. */
      200: SeatsListResponse | SeatsArray;
      /** Nothing has changed since the `ETag` that was sent. No body. */
      304: undefined;
      /** `scheduleId` cannot be one. */
      400: ErrorResponse & { reason: 'validation' };
      /** There is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Every change of the house, as it happens */
  streamSeats: {
    method: 'GET';
    path: '/api/v1/seats/stream';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
    };
    headers?: {
      /** The id of the last event that was seen. Browsers send it by themselves. */
      'Last-Event-ID'?: string;
    };
    answers: {
      /**
       * Events without end. `data` is a `SnapshotEvent` where the event is called `snapshot`, a `SeatEvent` where it is
       * called `seat`.
       */
      200: string;
      /** `scheduleId` cannot be one. */
      400: ErrorResponse & { reason: 'validation' };
      /** There is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** One seat */
  getSeat: {
    method: 'GET';
    path: '/api/v1/seats/{id}';
    params: {
      /** The seat's number, from 1. */
      id: number;
    };
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
    };
    answers: {
      /** The seat. */
      200: SeatDetailResponse;
      /** The number is none, or `scheduleId` cannot be one. */
      400: ErrorResponse & { reason: 'validation' };
      /** The house has no such seat, or there is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Reserve the best seat that is left */
  reserveSeat: {
    method: 'POST';
    path: '/api/v1/seats/reservation/fcfs';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
      /** `1` puts the answer into `{"gatewayWrapped": true, "status", "body"}`, for looking at it. */
      wrap?: '1';
    };
    headers: {
      /** Who is asking. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it. */
      'X-User-Id': string;
      /** The place in the order of arrival, drawn by the gateway. Believed only together with `X-Gateway-Token`. */
      'X-Fcfs-Seq'?: number;
      /** The gateway's secret, the value of the setting GATEWAY_TOKEN. Browsers do not send it. */
      'X-Gateway-Token'?: string;
    };
    body?: ReservationRequest;
    answers: {
      /** The seat is the caller's, and on disk. */
      200: FcfsSuccessResponse | GatewayWrapped;
      /** The request is wrong: change it before trying again. */
      400: (FcfsErrorResponse & { reason: 'validation' | 'missing_user' }) | GatewayWrapped;
      /** There is no such schedule. */
      404: (FcfsErrorResponse & { reason: 'not_found' }) | GatewayWrapped;
      /** No new seat for the caller. */
      409: (FcfsErrorResponse & { reason: 'sold_out' | 'duplicate' | 'already_reserved' | 'contention' } & Required<Pick<FcfsErrorResponse, 'seat_id' | 'reserved_by'>>) | GatewayWrapped;
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** A part of the service does not work. Try again after Retry-After: whoever got a seat after all is told `already_reserved`. */
      503: (FcfsErrorResponse & { reason: 'service_unavailable' | 'redis_error' | 'sequence_unavailable' }) | GatewayWrapped;
    };
  };
  /** The same under its older address */
  joinFcfs: {
    method: 'POST';
    path: '/fcfs/join';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
      /** `1` puts the answer into `{"gatewayWrapped": true, "status", "body"}`, for looking at it. */
      wrap?: '1';
    };
    headers: {
      /** Who is asking. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it. */
      'X-User-Id': string;
      /** The place in the order of arrival, drawn by the gateway. Believed only together with `X-Gateway-Token`. */
      'X-Fcfs-Seq'?: number;
      /** The gateway's secret, the value of the setting GATEWAY_TOKEN. Browsers do not send it. */
      'X-Gateway-Token'?: string;
    };
    body?: ReservationRequest;
    answers: {
      /** The seat is the caller's, and on disk. */
      200: FcfsSuccessResponse | GatewayWrapped;
      /** The request is wrong: change it before trying again. */
      400: (FcfsErrorResponse & { reason: 'validation' | 'missing_user' }) | GatewayWrapped;
      /** There is no such schedule. */
      404: (FcfsErrorResponse & { reason: 'not_found' }) | GatewayWrapped;
      /** No new seat for the caller. */
      409: (FcfsErrorResponse & { reason: 'sold_out' | 'duplicate' | 'already_reserved' | 'contention' } & Required<Pick<FcfsErrorResponse, 'seat_id' | 'reserved_by'>>) | GatewayWrapped;
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** A part of the service does not work. Try again after Retry-After: whoever got a seat after all is told `already_reserved`. */
      503: (FcfsErrorResponse & { reason: 'service_unavailable' | 'redis_error' | 'sequence_unavailable' }) | GatewayWrapped;
    };
  };
  /** The seat that I have */
  getMySeat: {
    method: 'GET';
    path: '/api/v1/seats/reservation';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
    };
    headers: {
      /** Who is asking. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it. */
      'X-User-Id': string;
    };
    answers: {
      /** The caller's seat; `seat` is null when there is none. */
      200: MySeatResponse;
      /** The header that names the user is missing, empty or longer than 128 bytes; or `scheduleId` cannot be one. */
      400: ErrorResponse & { reason: 'missing_user' | 'validation' };
      /** There is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Try the one seat of one's turn */
  tryNextSeat: {
    method: 'POST';
    path: '/api/v1/seats/reservation';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
    };
    headers: {
      /** Who is asking. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it. */
      'X-User-Id': string;
      /** The place in the order of arrival, drawn by the gateway. Believed only together with `X-Gateway-Token`. */
      'X-Fcfs-Seq'?: number;
      /** The gateway's secret, the value of the setting GATEWAY_TOKEN. Browsers do not send it. */
      'X-Gateway-Token'?: string;
    };
    body?: ReservationRequest;
    answers: {
      /** What became of the attempt. */
      200: TurnSuccess | TurnFailure;
      /** No user, a bad body or phone number; or a `scheduleId` that cannot be one. */
      400: (TurnError & { error: 'bad request' }) | (ErrorResponse & { reason: 'validation' });
      /** There is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** Another attempt of this user, or from this address, is under way. */
      409: TurnDuplicate;
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** It could not be tried. Try again. */
      500: TurnError & { error: 'internal error' };
    };
  };
  /** Give my seat back */
  giveSeatBack: {
    method: 'DELETE';
    path: '/api/v1/seats/reservation';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
    };
    headers: {
      /** Who is asking. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it. */
      'X-User-Id': string;
    };
    answers: {
      /** The seat that is free again. */
      200: GivenBackResponse;
      /** The header that names the user is missing, empty or longer than 128 bytes; or `scheduleId` cannot be one. */
      400: ErrorResponse & { reason: 'missing_user' | 'validation' };
      /** There is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** It was not given back. */
      409: ErrorResponse & { reason: 'not_reserved' | 'duplicate' | 'contention' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** A part of the service does not work. Nothing is known to have changed; try again. */
      503: ErrorResponse & { reason: 'service_unavailable' | 'redis_error' };
    };
  };
  /** Begin with an empty house */
  resetHouse: {
    method: 'POST';
    path: '/api/v1/seats/reset';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
    };
    headers?: {
      /** The value of the setting ADMIN_TOKEN. Where that is not set, the operator's addresses are only for users with the role ADMIN. */
      'X-Admin-Token'?: string;
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    body: ResetRequest;
    answers: {
      /** The house is empty. */
      200: ResetResponse;
      /** `seatCount` is missing or out of range, or `scheduleId` cannot be one. */
      400: ErrorResponse & { reason: 'validation' };
      /** The operator's token is missing or wrong. */
      403: ErrorResponse & { reason: 'forbidden' };
      /** No token is configured, so this address does not exist; or there is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** How the sale goes */
  getOverview: {
    method: 'GET';
    path: '/api/v1/admin/overview';
    query?: {
      /** Which performance; the default one when it is left out. */
      scheduleId?: string;
    };
    headers?: {
      /** The value of the setting ADMIN_TOKEN. Where that is not set, the operator's addresses are only for users with the role ADMIN. */
      'X-Admin-Token'?: string;
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    answers: {
      /** How it goes. */
      200: OverviewResponse;
      /** `scheduleId` cannot be one. */
      400: ErrorResponse & { reason: 'validation' };
      /** The operator's token is missing or wrong. */
      403: ErrorResponse & { reason: 'forbidden' };
      /** No token is configured, so this address does not exist; or there is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Is the process alive? */
  getHealth: {
    method: 'GET';
    path: '/healthz';
    answers: {
      /** It is. */
      200: Health;
    };
  };
  /** Can it serve requests? */
  getReadiness: {
    method: 'GET';
    path: '/readyz';
    answers: {
      /** Everything it needs works. */
      200: Readiness & { ready: true };
      /** Something does not, or the server is being stopped. */
      503: Readiness & { ready: false };
    };
  };
  /** Figures for Prometheus */
  getMetrics: {
    method: 'GET';
    path: '/metrics';
    answers: {
      /** The Prometheus text format. */
      200: string;
    };
  };
  /** This document */
  getOpenApi: {
    method: 'GET';
    path: '/openapi.json';
    headers?: {
      /** The `ETag` of the copy that one has. */
      'If-None-Match'?: string;
    };
    answers: {
      /** OpenAPI 3.1. People find it at `/docs`. */
      200: Record<string, unknown>;
      /** Nothing has changed since the `ETag` that was sent. No body. */
      304: undefined;
    };
  };
}

/** What any address may answer beside that. */
export interface Anywhere {
  /** The request is not HTTP as it should be. */
  400: ErrorResponse & { reason: 'bad_request' };
  /** There is nothing at this address. */
  404: ErrorResponse & { reason: 'not_found' };
  /** The address does not take this method. */
  405: ErrorResponse & { reason: 'method_not_allowed' };
  /** The request did not arrive in time. */
  408: ErrorResponse & { reason: 'request_timeout' };
  /** The body is larger than this address takes. */
  413: ErrorResponse & { reason: 'body_too_large' };
  /** The request line is too long. */
  414: ErrorResponse & { reason: 'uri_too_long' };
  /** The request expects something else than 100-continue. */
  417: ErrorResponse & { reason: 'expectation_failed' };
  /** Too many or too large headers. */
  431: ErrorResponse & { reason: 'headers_too_large' };
  /** Our fault. The log has more under the trace id. */
  500: ErrorResponse & { reason: 'internal_error' };
  /** No address takes this method. */
  501: ErrorResponse & { reason: 'method_not_implemented' };
  /** Too much at once. Try again after Retry-After. */
  503: ErrorResponse & { reason: 'overloaded' };
  /** Neither HTTP/1.0 nor HTTP/1.1. */
  505: ErrorResponse & { reason: 'version_not_supported' };
}
