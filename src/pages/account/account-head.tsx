/** Head of the account: the way back to the application, and a menu with the accounts of this browser. */
import { ArrowLeft, ChevronDown, LogOut, UserRoundPlus } from 'lucide';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { BrowserAccount } from '../browser/browser-accounts.ts';
import { ApplicationMark } from '../components/application-mark.tsx';
import { Icon } from '../components/icon.tsx';
import { useTexts } from '../components/texts.tsx';
import type { SignInApplication } from '../sign-in/offer.ts';
import type { OwnAccount } from './account-api.ts';

interface AccountHeadProps {
  readonly application: SignInApplication;
  readonly account: OwnAccount;
  /** Checked address of the application; null if unknown. */
  readonly back: string | null;
  /** Other accounts of this browser. */
  readonly others: readonly BrowserAccount[];
  onSwitch(account: BrowserAccount): void;
  onAnother(): void;
  onSignOut(): void;
}

export function AccountHead({ application, account, back, ...menu }: AccountHeadProps) {
  const text = useTexts();
  const name = (
    <>
      <ApplicationMark {...application} />
      <span class="account-app" dir="auto">
        {application.name}
      </span>
    </>
  );
  return (
    <header class="account-head">
      {back === null ? (
        <span class="account-home">{name}</span>
      ) : (
        <a class="account-home" id="back" href={back}>
          <Icon of={ArrowLeft} size={16} />
          <span class="visually-hidden">{text('signin.back', { app: application.name })}</span>
          <span class="account-home" aria-hidden="true">
            {name}
          </span>
        </a>
      )}
      <AccountMenu account={account} {...menu} />
    </header>
  );
}

/** A disclosure: its items are in the order of the Tab key, Escape closes it. */
function AccountMenu(props: Omit<AccountHeadProps, 'application' | 'back'>) {
  const { account, others, onSwitch, onAnother, onSignOut } = props;
  const { email } = account;
  const text = useTexts();
  const [isOpen, setIsOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (!isOpen) return;
    const onKey = ({ key }: KeyboardEvent) => {
      if (key !== 'Escape') return;
      setIsOpen(false);
      button.current?.focus();
    };
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !root.current?.contains(target)) setIsOpen(false);
    };
    document.addEventListener('keydown', onKey);
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    return () => {
      document.removeEventListener('keydown', onKey);
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
    };
  }, [isOpen]);
  return (
    <div class="account-menu" ref={root}>
      <button
        id="account-menu"
        type="button"
        ref={button}
        aria-expanded={isOpen}
        aria-controls="account-menu-items"
        aria-label={text('account.menu', { email })}
        onClick={() => setIsOpen(!isOpen)}
      >
        <Avatar account={account} />
        <span class="account-address" translate={false}>
          {email}
        </span>
        <Icon of={ChevronDown} size={16} />
      </button>
      <div class="account-menu-items" id="account-menu-items" hidden={!isOpen}>
        <p class="account-menu-who" translate={false}>
          {email}
        </p>
        {others.length > 0 && <p class="account-menu-title">{text('account.otherAccounts')}</p>}
        {others.map((other) => (
          <button
            key={other.userId}
            type="button"
            data-account={other.email}
            aria-label={text('account.switchTo', { email: other.email })}
            onClick={() => onSwitch(other)}
          >
            <Initial of={other.email} />
            <span translate={false}>{other.email}</span>
          </button>
        ))}
        <button id="another-account" type="button" onClick={onAnother}>
          <Icon of={UserRoundPlus} />
          <span>{text('signin.anotherAccount')}</span>
        </button>
        <button id="sign-out" type="button" onClick={onSignOut}>
          <Icon of={LogOut} />
          <span>{text('account.signOut')}</span>
        </button>
      </div>
    </div>
  );
}

/** Shows an uploaded picture only: a provider's would be asked of another host. */
function Avatar({ account: { avatarUrl, avatarSizes, email } }: { account: OwnAccount }) {
  return avatarUrl !== null && avatarSizes !== null ? (
    <img class="account-avatar" src={avatarUrl} alt="" width={28} height={28} />
  ) : (
    <Initial of={email} />
  );
}

/** Drawn by its style: as text it would be part of what a button says. */
function Initial({ of: [initial = ''] }: { of: string }) {
  return <span class="account-avatar" data-initial={initial.toUpperCase()} />;
}
