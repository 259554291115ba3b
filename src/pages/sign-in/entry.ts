/** Browser entry point of the sign-in page. */
import { takeUp } from '../browser/take-up.tsx';
import { SignInPage } from './page.tsx';

takeUp(SignInPage);
