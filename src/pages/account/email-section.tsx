/** The e-mail address and its change, confirmed by codes to the old and the new address. */
import { Mail } from 'lucide';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { Row, Rows, Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useAccount } from './account-context.tsx';
import { EMAIL_DRAFT, NewEmailForm } from './new-email-form.tsx';
import { dateText } from './words.ts';

type State =
  | { readonly at: 'rest' }
  | { readonly at: 'changing' }
  | { readonly at: 'changed'; readonly from: string; readonly to: string };

export function EmailSection() {
  const text = useTexts();
  const { account, drafts, refresh } = useAccount();
  const [state, setState] = useState<State>({ at: drafts.get(EMAIL_DRAFT) ? 'changing' : 'rest' });
  const { email, emailVerifiedAt } = account;

  async function changed(to: string): Promise<void> {
    setState({ at: 'changed', from: email, to });
    await refresh();
  }

  return (
    <Section id="email-address" title={text('account.email.title')} lead={text('account.email.lead')}>
      <Rows>
        <Row
          icon={<Icon of={Mail} />}
          title={<EmailAddress of={email} />}
          detail={
            emailVerifiedAt === null
              ? text('account.email.unconfirmed')
              : text('account.email.confirmed', { date: dateText(text, emailVerifiedAt) })
          }
          action={
            state.at !== 'changing' && (
              <Button
                id="change-email"
                look="small"
                aria-label={text('account.actionFor', {
                  action: text('account.email.change'),
                  name: text('account.email.title'),
                })}
                onClick={() => setState({ at: 'changing' })}
              >
                {text('account.email.change')}
              </Button>
            )
          }
        />
      </Rows>
      {state.at === 'changing' && (
        <NewEmailForm onChanged={(to) => void changed(to)} onCancel={() => setState({ at: 'rest' })} />
      )}
      <div role="status" id="email-changed">
        {state.at === 'changed' && (
          <div class="note">
            <strong>{text('account.email.done', { email: state.to })}</strong>
            <p>{text('account.email.doneDetail', { old: state.from })}</p>
          </div>
        )}
      </div>
    </Section>
  );
}

/** Allows a line break only before the domain. */
function EmailAddress({ of: email }: { of: string }) {
  const at = email.lastIndexOf('@');
  return (
    <span translate={false}>
      {email.slice(0, at)}
      <wbr />
      {email.slice(at)}
    </span>
  );
}
