/** How the reader signs in: the address, passkeys, and accounts elsewhere. */
import { EmailSection } from './email-section.tsx';
import { PasskeysSection } from './passkeys-section.tsx';
import { ProvidersSection } from './providers-section.tsx';

export function SignInPart() {
  return (
    <>
      <EmailSection />
      <PasskeysSection />
      <ProvidersSection />
    </>
  );
}
