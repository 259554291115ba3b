/** Client secret of an application, and its replacement, shown once. */
import { useState } from 'preact/hooks';
import { api, ask } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useConsole } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';

export function ClientSecret({ application }: ApplicationViewProps) {
  const { reloadApplications } = useConsole();
  const report = useReport();
  const [secret, setSecret] = useState<string | null>(null);
  const { clientSecretPrefix: prefix } = application;
  const rotate = () =>
    ask(api.POST('/api/applications/{id}/rotate-secret', { params: { path: { id: application.id } } }));

  const { open, dialog } = useDialog(() => (
    <FormDialog
      id="rotate-secret-dialog"
      title="Rotate the client secret?"
      lead={
        <>
          The one that begins with <code>{prefix}</code> stops working at once. Anything that uses it is refused until
          it has the new one.
        </>
      }
      submitText="Rotate secret"
      isDanger
      send={rotate}
      onDone={({ clientSecret }) => show(clientSecret)}
    />
  ));

  async function create(): Promise<void> {
    const outcome = await rotate();
    if (report(outcome)) await show(outcome.data.clientSecret);
  }

  async function show(secret: string): Promise<void> {
    setSecret(secret);
    await reloadApplications();
  }

  return (
    <Panel
      title="Client secret"
      lead="Authenticates this application’s backend, or a product that signs people in with OpenID Connect: at the token endpoint, at introspection and at revocation. Return URLs and the verification of sessions do not need it."
      action={
        prefix === null ? (
          <Action id="create-secret" onClick={create}>
            Create secret
          </Action>
        ) : (
          <Action id="rotate-secret" onClick={open}>
            Rotate secret
          </Action>
        )
      }
    >
      {secret !== null ? (
        <div class="secret">
          <p>This is the only time it is shown.</p>
          <CopyBox id="client-secret" value={secret} label="client secret" />
        </div>
      ) : (
        <p class="fine">
          {prefix === null ? (
            'There is none yet.'
          ) : (
            <>
              The one in use begins with <code>{prefix}</code>.
            </>
          )}
        </p>
      )}
      {dialog}
    </Panel>
  );
}
