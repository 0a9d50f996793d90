import type { Child } from "hono/jsx";

/** The one field that takes a token. The script fills it from the link that `npm start` prints. */
export function SignInForm({ children, error, next }: { children?: Child; error?: Child; next?: string }) {
  return (
    <form method="post" action="/sign-in" class="stack" data-sign-in>
      {children}
      {next !== undefined && <input type="hidden" name="next" value={next} />}
      <p class="js-only note" data-sign-in-as hidden />
      <label for="token">Token</label>
      <input
        id="token"
        name="token"
        type="password"
        autocomplete="off"
        spellcheck={false}
        required
        maxlength={8192}
        aria-describedby={error === undefined ? "token-help" : "token-error token-help"}
        aria-invalid={error === undefined ? undefined : "true"}
      />
      {error !== undefined && (
        <p class="error" id="token-error">
          {error}
        </p>
      )}
      <p class="mute" id="token-help">
        The registry checks the token once, keeps what it allows in a sealed cookie for at most eight hours, and forgets
        the token.
      </p>
      <button type="submit" class="primary">
        Sign in
      </button>
    </form>
  );
}
