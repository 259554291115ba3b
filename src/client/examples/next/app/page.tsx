import { auth } from '../lib/auth';

export default async function Home() {
  const user = await auth.user();
  return (
    <main>
      <p>{user ? `Hello, ${user.email}` : 'Hello, whoever you are.'}</p>
      <a href="/orders">Your orders</a>
    </main>
  );
}
