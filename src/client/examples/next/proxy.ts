import { auth } from './lib/auth';

/** Pages that only people who are signed in may open; everybody else signs in first and comes back. */
export const proxy = auth.proxy();
export const config = { matcher: ['/orders/:path*'] };
