/** How many requests may be under way at once: who comes when there is no room is told to come again. */
import { AppError } from '../core/error.ts';
import { pathOf } from './request-url.ts';

/** Always answered, and first: a supervisor that restarts a busy server only adds load. */
export function isHealthCheck(request: Request): boolean {
  return pathOf(request) === '/healthz';
}

const RETRY_AFTER_SECONDS = 1;

/** Places for requests; event streams hold theirs until they begin. */
export interface RequestRoom {
  /** To be left again. @returns whether there was room. */
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

/** Why a request is not looked at that finds no room. */
export function noRoom(): AppError {
  return new AppError('unavailable', { hint: 'too_many_requests_at_once', retryAfterSeconds: RETRY_AFTER_SECONDS });
}
