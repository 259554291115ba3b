/** Stages draft, test and live: their meaning, the next step and the sign-in link. */
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Panel } from '../../components/panel.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { useToast } from '../../../pages/components/toast.tsx';
import { useConsole } from '../../console-context.tsx';
import type { ApplicationViewProps } from '../../application-view.ts';
import { STAGES } from '../applications/words.ts';

type Application = Schemas['Application'];
type Warning = Schemas['StageChange']['warnings'][number];

const ORDER = ['draft', 'test', 'live'] as const;

const STEPS = {
  draft: {
    verb: 'Open for tests',
    title: 'Open it for tests?',
    lead: 'People outside the workspace can sign in from then on, as the gate says. There is no way back to draft; archiving closes it again.',
    done: 'It is open for tests.',
  },
  test: {
    verb: 'Go live',
    title: 'Go live?',
    lead: 'With an open gate, everybody who asked to be notified gets a mail. There is no way back to test.',
    done: 'It is live.',
  },
};

export function Stage({ application }: ApplicationViewProps) {
  const { reloadApplications } = useConsole();
  const toast = useToast();
  const [answered, setAnswered] = useState<readonly Warning[] | null>(null);
  const { stage } = application;
  const at = ORDER.indexOf(stage);
  const step = stage === 'live' ? null : STEPS[stage];
  const isClosed = application.archivedAt !== null || application.deletedAt !== null;
  const path = { id: application.id };
  const move = () =>
    stage === 'draft'
      ? ask(api.POST('/api/applications/{id}/publish', { params: { path } }))
      : ask(api.POST('/api/applications/{id}/go-live', { params: { path } }));
  const { open, dialog } = useDialog(
    () =>
      step && (
        <FormDialog
          id="stage-dialog"
          title={step.title}
          lead={step.lead}
          submitText={step.verb}
          send={move}
          onDone={({ warnings }) => {
            setAnswered(warnings);
            toast(step.done);
            void reloadApplications();
          }}
        />
      ),
  );
  return (
    <div class="settings-parts">
      <Panel
        title="Stage"
        lead={isClosed ? 'It is out of service. Restore it before changing its stage.' : undefined}
        action={
          step && (
            <Action id="next-stage" look="primary" isDisabled={isClosed} onClick={open}>
              {step.verb}
            </Action>
          )
        }
      >
        <ol class="stages">
          {ORDER.map((one, index) => (
            <li
              key={one}
              data-state={index < at ? 'done' : index === at ? 'here' : 'next'}
              aria-current={index === at ? 'step' : undefined}
            >
              <strong>{STAGES[one].title}</strong>
              <span class="fine">{STAGES[one].meaning}</span>
            </li>
          ))}
        </ol>
        {answered && answered.length > 0 && (
          <ul class="warnings" id="stage-warnings" role="status">
            {answered.map(({ path, message }) => (
              <li key={path}>
                {message} <Link href={addresses.application(application.id, 'settings', 'urls')}>Set it</Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <SignInLink application={application} />
      {dialog}
    </div>
  );
}

function SignInLink({ application }: { readonly application: Application }) {
  const [returnTo] = application.returnUrls;
  const query = new URLSearchParams({ clientId: application.clientId, ...(returnTo !== undefined && { returnTo }) });
  const link = `${location.origin}/sign-in?${query}`;
  return (
    <Panel
      title="Sign-in link"
      lead={
        returnTo === undefined ? (
          <>
            Link your sign-in button to it. It ends at “You are signed in”. To send people back,{' '}
            <Link href={addresses.application(application.id, 'settings', 'urls')}>set a return URL</Link>.
          </>
        ) : (
          <>
            Link your sign-in button to it. People return to <code>{returnTo}</code> with their session token in the
            fragment.
          </>
        )
      }
    >
      <CopyBox id="sign-in-link" value={link} label="sign-in link" />
      <p>
        <a class="link" href={link} target="_blank" rel="noreferrer">
          Open the sign-in page
        </a>
      </p>
    </Panel>
  );
}
