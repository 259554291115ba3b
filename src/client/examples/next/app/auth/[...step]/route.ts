import { auth } from '../../../lib/auth';

/** `/auth/sign-in`, `/auth/callback` and `/auth/sign-out`. */
export const { GET, POST } = auth.routes;
