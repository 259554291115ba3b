/** Sign-in page of the console, which then loads in its place. */
import { useState } from 'preact/hooks';
import { failureOfCode, request, type SignedIn } from '../pages/browser/api.ts';
import { takeDeparture, takeProviderReturn } from '../pages/browser/provider-return.ts';
import { ApplicationMark } from '../pages/components/application-mark.tsx';
import { Frame } from '../pages/components/frame.tsx';
import { useTexts } from '../pages/components/texts.tsx';
import type { SignInData } from '../pages/sign-in/offer.ts';
import { SignIn } from '../pages/sign-in/sign-in.tsx';

export function ConsoleSignInPage(data: SignInData) {
  const { application, locale } = data;
  const text = useTexts();
  const [failure, setFailure] = useState<string | null>(null);

  /** Stores the token in an HttpOnly cookie and drops it here. */
  async function enter(token: string): Promise<void> {
    const kept = await request('/account/session', { method: 'PUT', bearer: token });
    if (kept.ok) location.reload();
    else setFailure(kept.code);
  }

  /** Handles the return from a provider. A token that this browser did not request is ignored. */
  function earlier() {
    const back = takeProviderReturn();
    const isExpected = takeDeparture();
    if (back && 'token' in back && isExpected) void enter(back.token);
    else if (back) return failureOfCode('error' in back ? back.error : 'provider_failed');
    return null;
  }

  return (
    <Frame
      brand={<ApplicationMark {...application} />}
      links={application.links}
      locale={locale}
      scriptNeeded={text('signin.scriptNeeded')}
    >
      <SignIn
        key={failure}
        data={data}
        title={text('signin.title', { app: application.name })}
        lead={text('account.signInLead', { app: application.name })}
        earlierFailure={() => (failure === null ? earlier() : failureOfCode(failure))}
        backTo={() => null}
        onSignedIn={({ token }: SignedIn) => void enter(token)}
      />
    </Frame>
  );
}
