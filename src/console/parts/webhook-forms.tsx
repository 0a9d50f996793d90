import { Button, Field, Form } from "../forms/form.tsx";
import type { Viewer } from "../sign-in/viewer.ts";

interface Placed {
  viewer: Viewer;
  action: string;
}

/** Switches a hook or subscription off, or on again. */
export function Pause({ viewer, action, isOn }: Placed & { isOn: boolean }) {
  return (
    <Form viewer={viewer} action={action} class="inline">
      <input type="hidden" name="do" value={isOn ? "pause" : "resume"} />
      <Button label={isOn ? "Pause" : "Start again"} />
    </Form>
  );
}

export function Rotate({ viewer, action, hours = "24", what }: Placed & { hours?: string; what: string }) {
  return (
    <Form viewer={viewer} action={action}>
      <input type="hidden" name="do" value="rotate" />
      <Field
        name="hours"
        label="Hours that the earlier secret stays good"
        value={hours}
        type="number"
        max={4}
        help={what}
      />
      <p>
        <Button label="Make a new secret" />
      </p>
    </Form>
  );
}

/** Seconds of an overlap; the API says what is wrong with others. */
export function overlapIn(form: URLSearchParams): number | string {
  const hours = (form.get("hours") ?? "").trim();
  return /^\d{1,4}$/.test(hours) ? Number(hours) * 3_600 : hours;
}

export function Remove({ viewer, action, what, lost }: Placed & { what: string; lost: string }) {
  return (
    <details class="danger-zone">
      <summary>Delete this {what}</summary>
      <Form viewer={viewer} action={action}>
        <input type="hidden" name="do" value="delete" />
        <p class="small">{lost}</p>
        <p>
          <Button label={`Delete the ${what}`} as="danger" />
        </p>
      </Form>
    </details>
  );
}
