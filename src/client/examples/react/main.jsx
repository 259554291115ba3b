/** A page whose visitors sign in, with a menu for their account. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Gatehouse, SignedIn, SignedOut, SignInButton, UserButton, useUser } from 'gatehouse/react';

function Greeting() {
  const { user, error } = useUser();
  if (error) return <p>Not signed in: {error}</p>;
  return <p>{user ? `Hello, ${user.email}: ${user.roles.join(', ')}` : 'Hello, whoever you are.'}</p>;
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <Gatehouse url={import.meta.env.VITE_GATEHOUSE} clientId={import.meta.env.VITE_CLIENT_ID}>
      <header>
        <SignedOut>
          <SignInButton />
        </SignedOut>
        <UserButton />
      </header>
      <Greeting />
      <SignedIn role="editor">
        <a href="/new">Write an article</a>
      </SignedIn>
    </Gatehouse>
  </StrictMode>,
);
