/** Lists the account's passkeys; adds, renames and removes them. */
import { KeyRound, Plus } from 'lucide';
import { useState } from 'preact/hooks';
import { canUsePasskeys } from '../browser/webauthn.ts';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Row, Rows, RowsSkeleton, Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { useAccount } from './account-context.tsx';
import { RemovalDialog } from './removal-dialog.tsx';
import { RenameDialog } from './rename-dialog.tsx';
import { type OwnPasskey, useNewPasskey } from './use-new-passkey.ts';
import { usePages } from './use-pages.ts';
import { useRemoval } from './use-removal.ts';
import { dateText, joined, usedText } from './words.ts';

const PATH = '/api/account/passkeys';

type Asked = { readonly to: 'rename' | 'remove'; readonly passkey: OwnPasskey };

export function PasskeysSection() {
  const text = useTexts();
  const toast = useToast();
  const { api, data } = useAccount();
  const passkeys = usePages<OwnPasskey>(PATH, false);
  const removal = useRemoval();
  const [asked, setAsked] = useState<Asked | null>(null);
  const addition = useNewPasskey((made) => {
    passkeys.set((shown) => [...shown, made]);
    toast(text('account.passkey.added'));
  });
  const { items } = passkeys;
  const host = data.methods.passkeyHost;

  function whyNot(): string | null {
    if (canUsePasskeys(host)) return null;
    if (host === null) return text('account.passkey.unavailable', { app: data.application.name });
    if (location.hostname !== host) return text('account.passkey.elsewhere', { host });
    return text('account.passkey.unsupported');
  }
  const reason = whyNot();

  const nameOf = ({ name }: OwnPasskey) => name ?? text('account.passkey.unnamed');

  async function remove(passkey: OwnPasskey): Promise<void> {
    const { id } = passkey;
    if (!(await removal.remove(`${PATH}/${id}`, { purpose: 'session' }))) return;
    setAsked(null);
    passkeys.set((shown) => shown.filter((other) => other.id !== id));
    toast(text('account.passkey.removed', { name: nameOf(passkey) }));
    // Fails if the current session depended on the removed passkey.
    await passkeys.reload();
  }

  function renamed({ id }: OwnPasskey, name: string | null): void {
    setAsked(null);
    if (name === null) return;
    passkeys.set((shown) => shown.map((passkey) => (passkey.id === id ? { ...passkey, name } : passkey)));
    toast(text('account.renamed'));
  }

  const button = (to: Asked['to'], passkey: OwnPasskey) => {
    const action = text(to === 'rename' ? 'account.rename' : 'account.passkey.remove');
    return (
      <Button
        look="small"
        aria-label={text('account.actionFor', { action, name: nameOf(passkey) })}
        onClick={() => {
          removal.reset();
          setAsked({ to, passkey });
        }}
      >
        {action}
      </Button>
    );
  };

  return (
    <Section id="passkeys" title={text('account.passkey.title')} lead={text('account.passkey.lead')}>
      {items === null && <RowsSkeleton count={1} />}
      {items?.length === 0 && <Empty>{text('account.passkey.none')}</Empty>}
      {items && items.length > 0 && (
        <Rows>
          {items.map((passkey) => (
            <Row
              key={passkey.id}
              icon={<Icon of={KeyRound} />}
              title={nameOf(passkey)}
              detail={joined(
                text('account.addedOn', { date: dateText(text, passkey.createdAt) }),
                usedText(text, passkey.lastUsedAt),
                passkey.isBackedUp && text('account.passkey.backedUp'),
              )}
              action={
                <>
                  {button('rename', passkey)}
                  {button('remove', passkey)}
                </>
              }
            />
          ))}
        </Rows>
      )}
      {reason === null ? (
        <div class="settings-actions">
          <Button
            id="add-passkey"
            look="small"
            icon={<Icon of={Plus} size={16} />}
            busyText={addition.isAtWork && text('account.passkey.adding')}
            onClick={() => void addition.add()}
          >
            {text('account.passkey.add')}
          </Button>
        </div>
      ) : (
        <p class="hint" id="no-passkeys">
          {reason}
        </p>
      )}
      <p class="field-error" id="passkey-error" role="alert">
        {addition.error}
      </p>
      {asked?.to === 'rename' && (
        <RenameDialog
          name={asked.passkey.name ?? ''}
          save={(name) => api.send('PATCH', `${PATH}/${asked.passkey.id}`, { name })}
          onEnd={(name) => renamed(asked.passkey, name)}
        />
      )}
      {asked?.to === 'remove' && (
        <RemovalDialog
          id="remove-passkey"
          title={text('account.passkey.removeTitle', { name: nameOf(asked.passkey) })}
          lead={text('account.passkey.removeLead')}
          confirmText={text('account.passkey.remove')}
          busyText={text('account.passkey.removing')}
          removal={removal}
          onConfirm={() => remove(asked.passkey)}
          onClose={() => setAsked(null)}
        />
      )}
    </Section>
  );
}
