import type { ReactNode } from 'react';
import { Gatehouse, SignedOut, SignInButton, UserButton } from 'gatehouse/react';
import { auth } from '../lib/auth';

export default async function Layout({ children }: { children: ReactNode }) {
  const { GATEHOUSE = '', CLIENT_ID = '' } = process.env;
  return (
    <html lang="en">
      <head>
        <link rel="icon" href="data:," />
      </head>
      <body>
        <Gatehouse url={GATEHOUSE} clientId={CLIENT_ID} user={await auth.user()}>
          <header>
            <SignedOut>
              <SignInButton />
            </SignedOut>
            <UserButton />
          </header>
          {children}
        </Gatehouse>
      </body>
    </html>
  );
}
