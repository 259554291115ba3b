/** Buttons, and links that look like them. One that is at work says so, and takes no second press. */
import type { ButtonHTMLAttributes, ComponentChildren } from 'preact';

type Look = 'primary' | 'plain' | 'quiet' | 'small' | 'danger';

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type' | 'icon'> {
  readonly look?: Look;
  readonly type?: 'button' | 'submit';
  /** What it says while it is at work; given exactly then. */
  readonly busyText?: string | false;
  readonly icon?: ComponentChildren;
}

export function Button({ look = 'primary', type = 'button', busyText = false, icon, children, ...rest }: ButtonProps) {
  const isBusy = busyText !== false;
  return (
    <button {...rest} class={`button ${look}`} type={type} aria-busy={isBusy ? 'true' : undefined}>
      {icon}
      <span>{isBusy ? busyText : children}</span>
    </button>
  );
}

interface LinkButtonProps {
  readonly href: string;
  readonly look?: Look;
  readonly id?: string;
  readonly icon?: ComponentChildren;
  readonly onClick?: (event: MouseEvent) => void;
  readonly children: ComponentChildren;
}

export function LinkButton({ look = 'primary', icon, children, ...rest }: LinkButtonProps) {
  return (
    <a {...rest} class={`button ${look}`}>
      {icon}
      <span>{children}</span>
    </a>
  );
}
