/** The step to the first API key. The key stays visible, also after a visit to another view, until it is stored. */
import { useLayoutEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { SecretBox } from '../../components/secret-box.tsx';
import { useTrial } from '../../trials.tsx';
import { FirstStep } from './first-step.tsx';

interface KeyStepProps {
  readonly application: Schemas['Application'];
  readonly hasKey: boolean;
  readonly isNext: boolean;
  readonly onCreated: () => Promise<void>;
}

export function KeyStep({ application: { id }, hasKey, isNext, onCreated }: KeyStepProps) {
  const report = useReport();
  const [{ key }, change] = useTrial(id);
  useReloadWarning(key !== null);

  async function create(): Promise<void> {
    const body = { name: 'Backend', access: 'read' } as const;
    const made = await ask(api.POST('/api/applications/{id}/api-keys', { params: { path: { id } }, body }));
    if (!report(made)) return;
    change({ key: made.data.token });
    await onCreated();
  }

  return (
    <FirstStep
      id="key-step"
      title="API key"
      isDone={hasKey && key === null}
      action={
        !hasKey && (
          <Action look={isNext ? 'primary' : 'plain'} id="create-first-key" onClick={create}>
            Create API key
          </Action>
        )
      }
    >
      {key !== null ? (
        <>
          <SecretBox id="first-key" what="key" value={key} />
          <p>
            Keep it where your backend keeps its secrets. It stays here until you have stored it; a reload of the
            console loses it.
          </p>
          <Action id="first-key-stored" look="plain" needs="nothing" onClick={() => change({ key: null })}>
            I have stored it
          </Action>
        </>
      ) : hasKey ? (
        <p>
          A key was shown once, when it was created. If it is lost,{' '}
          <button class="link" id="create-another-key" type="button" onClick={() => void create()}>
            create another
          </button>
          , or rotate it under <Link href={addresses.application(id, 'keys')}>API keys</Link>.
        </p>
      ) : (
        'Your backend calls this server with it. Read access is enough to verify sessions.'
      )}
    </FirstStep>
  );
}

/** Has the browser ask before a reload discards the key. */
function useReloadWarning(isUnstored: boolean): void {
  useLayoutEffect(() => {
    if (!isUnstored) return;
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', onUnload);
    return () => removeEventListener('beforeunload', onUnload);
  }, [isUnstored]);
}
