import { auth } from '../../../lib/auth';

export const GET = auth.route((_request, { identity }) => Response.json({ email: identity.email }));

/** Something that only editors may do. */
export const POST = auth.route(() => Response.json({ published: true }), { role: 'editor' });
