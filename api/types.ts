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
  /** Another way to write userName; at most 100 bytes. */
  user_name?: string | null;
  /** Like 010-1234-5678 or +821012345678; empty: none. */
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
  /** Which performance, 1 to 64 bytes. */
  scheduleId?: string | null;
  seatCount: number;
  /** Of the house that the operator has seen; 0 where there was none. */
  generation?: number | null;
}

export interface ResetResponse {
  success: true;
  scheduleId: string;
  /** How many seats the house has now. */
  seats: number;
  generation: Generation;
}

export interface GenerationChangedResponse {
  success: false;
  reason: 'generation_changed';
  /** A sentence for people. */
  message: string;
  generation: Generation;
  traceId: TraceId;
}

/** One more at each reset of the house. */
export type Generation = number;

/** What became of an attempt. */
export type Outcome =
  | 'claimed'
  | 'sold_out'
  | 'duplicate'
  | 'already_reserved'
  | 'seat_taken'
  | 'contention'
  | 'released'
  | 'released_by_operator'
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
  scheduleId: string;
  generation: Generation;
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

/** An account, as its owner and other services see it. */
export interface User {
  id: string;
  email: string;
  name: string;
  /** Like +821012345678; null where there is none. */
  phone: string | null;
  role: Role;
  /** Whether it can sign in with a password. */
  hasPassword: boolean;
  /** Whether it can sign in with Google. */
  hasGoogle: boolean;
  createdAt: string;
  lastLoginAt: string | null;
}

/** What an account may do: STAFF checks tickets, ADMIN runs the sale. */
export type Role = 'USER' | 'STAFF' | 'ADMIN';

export interface UserResponse {
  success: true;
  user: User;
}

export interface UsersResponse {
  success: true;
  users: User[];
}

/** A session. */
export interface TokensResponse {
  success: true;
  /** For `Authorization: Bearer`. */
  accessToken: string;
  /** Works once. */
  refreshToken: string;
  /** Seconds until the access token expires. */
  expiresIn: number;
  tokenType: 'Bearer';
  user: User;
}

export interface GuestResponse {
  success: true;
  guest: {
    /** As `reserved_by` has it. Not a secret; it proves nothing without the cookie. */
    id: string;
  };
}

export interface ValidityResponse {
  success: true;
  valid: boolean;
  user: User | null;
}

export type SignInMethod = 'EMAIL' | 'GOOGLE';

/** Where and how somebody is signed in. */
export interface Session {
  id: string;
  /** Whether it is the one that asks. */
  current: boolean;
  method: SignInMethod;
  ip: string;
  userAgent: string;
  createdAt: string;
  /** When it last got new tokens. */
  lastUsedAt: string;
  expiresAt: string;
}

export interface SessionsResponse {
  success: true;
  sessions: Session[];
}

/** An attempt to sign in. */
export interface Login {
  id: number;
  at: string;
  ip: string;
  userAgent: string;
  method: SignInMethod;
  success: boolean;
  /** Why not: invalid_credentials or throttled. */
  reason: string | null;
}

export interface LoginsResponse {
  success: true;
  logins: Login[];
}

export interface RegisterRequest {
  /** Like name@example.com: ASCII, at most 254 bytes. */
  email: string;
  /** 8 to 72 bytes. */
  password: string;
  /** On one line, at most 100 bytes. */
  name: string;
  /** Like 010-1234-5678 or +821012345678; empty: none. */
  phone?: string | null;
  /** 1 to 128 bytes. */
  identityVerificationId?: string | null;
}

export interface LoginRequest {
  /** Like name@example.com: ASCII, at most 254 bytes. */
  email: string;
  /** 1 to 72 bytes. */
  password: string;
}

export interface GoogleNonceResponse {
  success: true;
  nonce: string;
}

export interface GoogleRequest {
  /** At most 4096 bytes. */
  credential: string;
}

export interface RefreshRequest {
  /** At most 4096 bytes. The cookie's when it is left out. */
  refreshToken?: string | null;
}

export interface VerifyRequest {
  /** At most 4096 bytes. */
  token?: string | null;
}

export interface AccountChange {
  /** On one line, at most 100 bytes. */
  name?: string | null;
  /** Like 010-1234-5678 or +821012345678; empty: none. */
  phone?: string | null;
}

export interface EraseRequest {
  /** 1 to 72 bytes; needed by every account that has a password. */
  password?: string | null;
}

export interface PasswordChange {
  /** 1 to 72 bytes. */
  currentPassword: string;
  /** 8 to 72 bytes. */
  newPassword: string;
}

export interface UsersRequest {
  ids: string[];
}

export interface VerifiedIdentity {
  /** 1 to 128 bytes. */
  id: string;
  /** 8 to 128 bytes. */
  ci: string;
}

/** A failure that tells when to try again. */
export interface ThrottledResponse {
  success: false;
  reason: Reason;
  /** A sentence for people. */
  message: string;
  /** Seconds. */
  retryAfter: number;
  traceId: TraceId;
}

export interface Health {
  status: 'ok';
}

export interface ReadinessPart {
  ready: boolean;
  /** What is wrong with it. */
  reason?: string;
  /** What an operator should know although it is ready. */
  warning?: string;
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
  | 'identity_unverified'
  | 'unauthorized'
  | 'invalid_credentials'
  | 'token_reused'
  | 'forbidden'
  | 'signin_too_old'
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
  | 'generation_changed'
  | 'email_taken'
  | 'ci_taken'
  | 'no_password'
  | 'body_too_large'
  | 'uri_too_long'
  | 'expectation_failed'
  | 'too_many_logins'
  | 'too_many_streams'
  | 'rate_limited'
  | 'headers_too_large'
  | 'internal_error'
  | 'method_not_implemented'
  | 'overloaded'
  | 'redis_error'
  | 'sequence_unavailable'
  | 'service_unavailable'
  | 'version_not_supported';

/** The seats are for those whom the waiting room has let in. */
export interface QueueTokenResponse {
  success: false;
  reason: 'queue_token_required';
  /** A sentence for people. */
  message: string;
  /** Where the waiting room is. */
  redirectTo: string;
  traceId: TraceId;
}

/** Too many requests. */
export interface RateLimitedResponse {
  success: false;
  reason: 'rate_limited';
  /** A sentence for people. */
  message: string;
  /** Seconds to wait; the header Retry-After says the same. */
  retryAfter: number;
  traceId: TraceId;
}

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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
      scheduleId?: string;
    };
    answers: {
      /** The performance and the shape of its house. */
      200: ShowResponse;
      /** `scheduleId`, or `format` where there is one, cannot be one. */
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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
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
      /** `scheduleId`, or `format` where there is one, cannot be one. */
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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
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
      /** `scheduleId`, or `format` where there is one, cannot be one. */
      400: ErrorResponse & { reason: 'validation' };
      /** There is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** This client address has as many open streams as it may. */
      429: ErrorResponse & { reason: 'too_many_streams' };
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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
      scheduleId?: string;
      /** `1` puts the answer into `{"gatewayWrapped": true, "status", "body"}`, for looking at it. No other value is taken. */
      wrap?: '1';
    };
    headers?: {
      /**
       * Who is asking, where the server believes it (FCFS_TRUST_USER_HEADER); those who are signed in and guests need
       * none. At most 128 bytes of UTF-8. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it.
       */
      'X-User-Id'?: string;
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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
      scheduleId?: string;
      /** `1` puts the answer into `{"gatewayWrapped": true, "status", "body"}`, for looking at it. No other value is taken. */
      wrap?: '1';
    };
    headers?: {
      /**
       * Who is asking, where the server believes it (FCFS_TRUST_USER_HEADER); those who are signed in and guests need
       * none. At most 128 bytes of UTF-8. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it.
       */
      'X-User-Id'?: string;
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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
      scheduleId?: string;
    };
    headers?: {
      /**
       * Who is asking, where the server believes it (FCFS_TRUST_USER_HEADER); those who are signed in and guests need
       * none. At most 128 bytes of UTF-8. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it.
       */
      'X-User-Id'?: string;
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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
      scheduleId?: string;
    };
    headers?: {
      /**
       * Who is asking, where the server believes it (FCFS_TRUST_USER_HEADER); those who are signed in and guests need
       * none. At most 128 bytes of UTF-8. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it.
       */
      'X-User-Id'?: string;
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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
      scheduleId?: string;
    };
    headers?: {
      /**
       * Who is asking, where the server believes it (FCFS_TRUST_USER_HEADER); those who are signed in and guests need
       * none. At most 128 bytes of UTF-8. The setting FCFS_USER_HEADER can give the header another name; `/api/v1/show` tells it.
       */
      'X-User-Id'?: string;
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
      /** Which performance, where the body does not say it; 1 to 64 bytes. If both say it, they must agree. */
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
      /** `seatCount` or `scheduleId` is missing or cannot be one, or `scheduleId` is not the same in query and body. */
      400: ErrorResponse & { reason: 'validation' };
      /** The operator's token is missing or wrong, and nobody with the right role is signed in. */
      403: ErrorResponse & { reason: 'forbidden' };
      /** No token is configured, so this address does not exist; or there is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The house has another generation, which `generation` tells. Nothing has changed. */
      409: GenerationChangedResponse;
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
      /** Which performance, 1 to 64 bytes; the default one when it is left out. */
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
      /** `scheduleId`, or `format` where there is one, cannot be one. */
      400: ErrorResponse & { reason: 'validation' };
      /** The operator's token is missing or wrong, and nobody with the right role is signed in. */
      403: ErrorResponse & { reason: 'forbidden' };
      /** No token is configured, so this address does not exist; or there is no such schedule. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Release one seat */
  releaseSeat: {
    method: 'DELETE';
    path: '/api/v1/admin/seats/{id}';
    params: {
      /** The seat's number, from 1. */
      id: number;
    };
    query: {
      /** Which performance, 1 to 64 bytes. */
      scheduleId: string;
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
      /** The seat that is free again. */
      200: GivenBackResponse;
      /** The number is none, or `scheduleId` is missing or cannot be one. */
      400: ErrorResponse & { reason: 'validation' };
      /** The operator's token is missing or wrong, and nobody with the right role is signed in. */
      403: ErrorResponse & { reason: 'forbidden' };
      /** The house has no such seat, there is no such schedule, or no token is configured, so that this address does not exist. */
      404: ErrorResponse & { reason: 'not_found' };
      /** Nothing was released. */
      409: ErrorResponse & { reason: 'not_reserved' | 'contention' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Make an account */
  register: {
    method: 'POST';
    path: '/api/v1/auth/register';
    body: RegisterRequest;
    answers: {
      /** The account. */
      201: UserResponse;
      /** A field is missing or wrong, or the identity is not verified. */
      400: ErrorResponse & { reason: 'validation' | 'identity_unverified' };
      /** There is such an account already. */
      409: ErrorResponse & { reason: 'email_taken' | 'ci_taken' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** The same under another address */
  signUp: {
    method: 'POST';
    path: '/api/v1/auth/signup';
    body: RegisterRequest;
    answers: {
      /** The account. */
      201: UserResponse;
      /** A field is missing or wrong, or the identity is not verified. */
      400: ErrorResponse & { reason: 'validation' | 'identity_unverified' };
      /** There is such an account already. */
      409: ErrorResponse & { reason: 'email_taken' | 'ci_taken' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Sign in */
  signIn: {
    method: 'POST';
    path: '/api/v1/auth/login';
    body: LoginRequest;
    answers: {
      /** A session: the tokens, also as the cookies `access_token` (path /) and `refresh_token` (path /api), which scripts cannot read. */
      200: TokensResponse;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** Wrong. The answer does not tell whether there is such an account, and takes as long. */
      401: ErrorResponse & { reason: 'invalid_credentials' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** Too many failed attempts with this e-mail. Each further one makes the wait longer. */
      429: ThrottledResponse & { reason: 'too_many_logins' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Sign in with Google */
  signInWithGoogle: {
    method: 'POST';
    path: '/api/v1/auth/google';
    body: GoogleRequest;
    answers: {
      /** A session: the tokens, also as the cookies `access_token` (path /) and `refresh_token` (path /api), which scripts cannot read. */
      200: TokensResponse;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** Wrong. The answer does not tell whether there is such an account, and takes as long. */
      401: ErrorResponse & { reason: 'invalid_credentials' };
      /** The setting GOOGLE_CLIENT_ID is not set. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The e-mail has an account already, which signs in with a password. */
      409: ErrorResponse & { reason: 'email_taken' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Begin to sign in with Google */
  askForGoogle: {
    method: 'POST';
    path: '/api/v1/auth/google/nonce';
    answers: {
      /** A question that nobody has asked before; its secret half is the cookie `google_nonce`. */
      200: GoogleNonceResponse;
      /** The setting GOOGLE_CLIENT_ID is not set. */
      404: ErrorResponse & { reason: 'not_found' };
    };
  };
  /** Get new tokens for the old */
  refresh: {
    method: 'POST';
    path: '/api/v1/auth/refresh';
    body?: RefreshRequest;
    answers: {
      /** A session: the tokens, also as the cookies `access_token` (path /) and `refresh_token` (path /api), which scripts cannot read. */
      200: TokensResponse;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** The token is none of ours, has expired or its session has ended; or it was used before, and its session ends now. */
      401: ErrorResponse & { reason: 'unauthorized' | 'token_reused' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Sign out */
  signOut: {
    method: 'POST';
    path: '/api/v1/auth/logout';
    body?: RefreshRequest;
    answers: {
      /** Done; nothing to say. */
      204: undefined;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Is this access token good? */
  verifyToken: {
    method: 'POST';
    path: '/api/v1/auth/verify-token';
    body?: VerifyRequest;
    answers: {
      /** Whether the token is good, and whose it is. */
      200: ValidityResponse;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Be a guest of this browser */
  becomeGuest: {
    method: 'POST';
    path: '/api/v1/auth/guest';
    answers: {
      /** Who this browser is without an account; also as the cookie `guest` (path /), which scripts cannot read. */
      200: GuestResponse;
      /** Nobody is signed in, or not any more. */
      401: ErrorResponse & { reason: 'unauthorized' };
    };
  };
  /** Who am I? */
  getMe: {
    method: 'GET';
    path: '/api/v1/auth/me';
    headers?: {
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    answers: {
      /** The caller. */
      200: UserResponse;
      /** Nobody is signed in, or not any more. */
      401: ErrorResponse & { reason: 'unauthorized' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** My account */
  getAccount: {
    method: 'GET';
    path: '/api/v1/users/me';
    headers?: {
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    answers: {
      /** The caller. */
      200: UserResponse;
      /** Nobody is signed in, or not any more. */
      401: ErrorResponse & { reason: 'unauthorized' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Change my name or phone */
  changeAccount: {
    method: 'PATCH';
    path: '/api/v1/users/me';
    headers?: {
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    body?: AccountChange;
    answers: {
      /** The caller. */
      200: UserResponse;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** Nobody is signed in, or not any more. */
      401: ErrorResponse & { reason: 'unauthorized' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Erase my account */
  eraseAccount: {
    method: 'DELETE';
    path: '/api/v1/users/me';
    headers?: {
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    body?: EraseRequest;
    answers: {
      /** Done; nothing to say. */
      204: undefined;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** Nobody is signed in; or the password is wrong. */
      401: ErrorResponse & { reason: 'unauthorized' | 'invalid_credentials' };
      /** The account has no password, and its owner has signed in longer ago than five minutes. */
      403: ErrorResponse & { reason: 'signin_too_old' };
      /** The account signs in with Google only. */
      409: ErrorResponse & { reason: 'no_password' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** Too many failed attempts with this e-mail. Each further one makes the wait longer. */
      429: ThrottledResponse & { reason: 'too_many_logins' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Change my password */
  changePassword: {
    method: 'PUT';
    path: '/api/v1/users/me/password';
    headers?: {
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    body: PasswordChange;
    answers: {
      /** Done; nothing to say. */
      204: undefined;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** Nobody is signed in; or the password is wrong. */
      401: ErrorResponse & { reason: 'unauthorized' | 'invalid_credentials' };
      /** The account signs in with Google only. */
      409: ErrorResponse & { reason: 'no_password' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** Too many failed attempts with this e-mail. Each further one makes the wait longer. */
      429: ThrottledResponse & { reason: 'too_many_logins' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Where I am signed in */
  getSessions: {
    method: 'GET';
    path: '/api/v1/users/me/sessions';
    headers?: {
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    answers: {
      /** The sessions, the last used first. */
      200: SessionsResponse;
      /** Nobody is signed in, or not any more. */
      401: ErrorResponse & { reason: 'unauthorized' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Sign out everywhere */
  signOutEverywhere: {
    method: 'DELETE';
    path: '/api/v1/users/me/sessions';
    headers?: {
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    answers: {
      /** Done; nothing to say. */
      204: undefined;
      /** Nobody is signed in, or not any more. */
      401: ErrorResponse & { reason: 'unauthorized' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Sign out there */
  endSession: {
    method: 'DELETE';
    path: '/api/v1/users/me/sessions/{id}';
    params: {
      /** The session's id. */
      id: string;
    };
    headers?: {
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    answers: {
      /** Done; nothing to say. */
      204: undefined;
      /** Nobody is signed in, or not any more. */
      401: ErrorResponse & { reason: 'unauthorized' };
      /** The caller has no such session. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Who has tried to sign in as me */
  getLogins: {
    method: 'GET';
    path: '/api/v1/users/me/logins';
    headers?: {
      /**
       * The access token that signing in gave; browsers may leave it to the cookie `access_token`. A request with the
       * cookie that changes something must come from a page of this server. Roles, where a role is needed, stand in
       * the list.
       */
      Authorization?: string;
    };
    answers: {
      /** The latest attempts, the newest first. */
      200: LoginsResponse;
      /** Nobody is signed in, or not any more. */
      401: ErrorResponse & { reason: 'unauthorized' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Look accounts up */
  getUsers: {
    method: 'POST';
    path: '/internal/users/batch';
    headers: {
      /** The value of the setting INTERNAL_API_TOKEN, on the port of the setting INTERNAL_PORT only. */
      Authorization: string;
    };
    body: UsersRequest;
    answers: {
      /** Those of the ids that have an account, in the order asked for. */
      200: UsersResponse;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** The internal token is missing. */
      401: ErrorResponse & { reason: 'unauthorized' };
      /** The internal token is wrong. */
      403: ErrorResponse & { reason: 'forbidden' };
      /** This is not the internal listener. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
      /** The database cannot be reached. Try again. */
      503: ErrorResponse & { reason: 'service_unavailable' };
    };
  };
  /** Tell of a verified identity */
  storeVerifiedIdentity: {
    method: 'POST';
    path: '/internal/verified-identities';
    headers: {
      /** The value of the setting INTERNAL_API_TOKEN, on the port of the setting INTERNAL_PORT only. */
      Authorization: string;
    };
    body: VerifiedIdentity;
    answers: {
      /** Done; nothing to say. */
      204: undefined;
      /** A field is missing or wrong; `message` names it. */
      400: ErrorResponse & { reason: 'validation' };
      /** The internal token is missing. */
      401: ErrorResponse & { reason: 'unauthorized' };
      /** The internal token is wrong. */
      403: ErrorResponse & { reason: 'forbidden' };
      /** This is not the internal listener. */
      404: ErrorResponse & { reason: 'not_found' };
      /** The body is larger than this address takes. */
      413: ErrorResponse & { reason: 'body_too_large' };
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
  /**
   * The request is not HTTP as it should be; or its query cannot be read (not UTF-8, a name twice, too many names), or,
   * where something would change, has a name that the address does not take.
   */
  400: ErrorResponse & { reason: 'bad_request' | 'validation' };
  /** Nobody is signed in; or the token is not valid, or no longer. */
  401: ErrorResponse & { reason: 'unauthorized' };
  /**
   * A request with a cookie that changes something, and that no page of this server has sent (`Sec-Fetch-Site` or
   * `Origin` tell); or the waiting room of the schedule has not let the caller in yet.
   */
  403: (ErrorResponse & { reason: 'csrf' }) | QueueTokenResponse;
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
  /** Too many requests of this user, or from this address, within a minute. */
  429: RateLimitedResponse;
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
