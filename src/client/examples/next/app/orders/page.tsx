import { auth } from '../../lib/auth';

export default async function Orders() {
  const { email } = await auth.requireUser({ returnTo: '/orders' });
  return <p>Orders of {email}</p>;
}
