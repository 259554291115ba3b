import { auth } from '../../lib/auth';

/** No proxy stands before this page: it asks for itself. */
export default async function Editors() {
  const { email } = await auth.requireUser({ role: 'editor', returnTo: '/editors' });
  return <p>Written by {email}</p>;
}
