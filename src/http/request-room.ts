/** Limits concurrent requests; further ones are told to retry later. */
import { AppError } from '../core/error.ts';
import { pathOf } from './request-url.ts';

/** Always answered, and first: a supervisor that restarts a busy server only adds load. */
export function isHealthCheck(request: Request): boolean {
  return pathOf(request) === '/healthz';
}

const RETRY_AFTER_SECONDS = 1;

/** Pool of request slots; an event stream holds one until it begins. */
export interface RequestRoom {
  /** Takes a slot, which `leave` releases. @returns whether one was free. */
  enter(request: Request): boolean;
  leave(): void;
}

export function requestRoom(max: number): RequestRoom {
  let underWay = 0;
  return {
    enter(request) {
      if (underWay >= max && !isHealthCheck(request)) return false;
      underWay += 1;
      return true;
    },
    leave() {
      underWay -= 1;
    },
  };
}

export function noRoom(): AppError {
  return new AppError('unavailable', { hint: 'too_many_requests_at_once', retryAfterSeconds: RETRY_AFTER_SECONDS });
}
