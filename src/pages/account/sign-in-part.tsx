/** Account page with the sign-in methods: address, passkeys and providers. */
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
