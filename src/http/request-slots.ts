/** Limits concurrent requests; further requests get 503 with Retry-After. */
import { AppError } from '../core/error.ts';
import { pool } from '../core/pool.ts';
import { pathOf } from './request-url.ts';

/** Always answered, and first: a supervisor that restarts a busy server only adds load. */
export function isHealthCheck(request: Request): boolean {
  return pathOf(request) === '/healthz';
}

const RETRY_AFTER_SECONDS = 1;

/** An event stream holds a slot until it begins. */
export interface RequestSlots {
  /** Takes a slot, which `leave` releases. @returns whether one was free. */
  enter(request: Request): boolean;
  leave(): void;
}

export function requestSlots(total: number): RequestSlots {
  const slots = pool({ total });
  return {
    enter(request) {
      if (slots.free() === 0 && !isHealthCheck(request)) return false;
      slots.add();
      return true;
    },
    leave: () => slots.release(),
  };
}

export function tooManyRequests(): AppError {
  return new AppError('unavailable', { hint: 'too_many_requests_at_once', retryAfterSeconds: RETRY_AFTER_SECONDS });
}
