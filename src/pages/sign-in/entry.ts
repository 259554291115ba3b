/** The sign-in page in the browser. */
import { takeUp } from '../browser/take-up.tsx';
import { SignInPage } from './page.tsx';

takeUp(SignInPage);
