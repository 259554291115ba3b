/** How many requests may be under way at once: who comes when there is no room is told to come again. */
import { AppError } from '../core/error.ts';
import { pathOf } from './request-url.ts';

/** Whoever starts a process anew that does not answer here would make a crowd of it that never ends. */
const ALWAYS = '/healthz';

const RETRY_AFTER_SECONDS = 1;

export interface RequestRoom {
  /** Answers by `run`, or by `refuse` where there is no room; event streams count until they begin. */
  (request: Request, run: () => Promise<Response>): Promise<Response>;
}

/** @param refuse answers a request that is not looked at. */
export function requestRoom(
  max: number,
  refuse: (request: Request, refusal: AppError) => Promise<Response>,
): RequestRoom {
  let underWay = 0;
  return async (request, run) => {
    if (underWay >= max && pathOf(request) !== ALWAYS)
      return refuse(
        request,
        new AppError('unavailable', { hint: 'too_many_requests_at_once', retryAfterSeconds: RETRY_AFTER_SECONDS }),
      );
    underWay += 1;
    try {
      return await run();
    } finally {
      underWay -= 1;
    }
  };
}
