// The platform's API as the player uses it: the video, what is expected next, and what the viewer does.
const BASE = "/api/v1/segments/";

export class Platform {
  constructor(main) {
    this.video = main.dataset.video;
    this.headers = { "Content-Type": "application/json", "X-CSRFToken": main.dataset.token };
    this.viewer = localStorage.getItem("viewer") || crypto.randomUUID?.() || String(Math.random()).slice(2);
    localStorage.setItem("viewer", this.viewer);
    this.session = crypto.randomUUID?.() || `${Date.now()}-${Math.random()}`;
    this.waiting = [];
  }

  async get(path) {
    const reply = await fetch(`${BASE}${path}`, { headers: this.headers });
    if (!reply.ok) throw new Error((await reply.json().catch(() => ({}))).detail || `${reply.status}`);
    return reply.json();
  }

  about() {
    return this.get(`videos/${this.video}/`);
  }

  async edges() {
    const told = await this.get("edges/").catch(() => ({ results: [] }));
    return (told.results || []).map((edge) => edge.url).filter(Boolean);
  }

  async predict(position) {
    const body = JSON.stringify({ viewer: this.viewer, video: this.name, position_s: position });
    const reply = await fetch(`${BASE}predict/`, { method: "POST", headers: this.headers, body });
    return reply.ok ? reply.json() : { model: "", segments: [] };
  }

  // Views wait for a moment and go together; what a dead platform did not take is sent later, up to a limit.
  view(event, position, rendition) {
    const at = new Date().toISOString();
    this.waiting.push({
      viewer: this.viewer, video: this.name, session: this.session, event, at, rendition,
      position_s: Math.max(0, Math.round(position * 100) / 100),
    });
    this.waiting.splice(0, Math.max(0, this.waiting.length - 500));
    if (event !== "heartbeat") this.send();
  }

  async send(leaving = false) {
    if (!this.waiting.length || (this.sending && !leaving)) return;
    const batch = this.waiting.splice(0, 200);
    this.sending = true;
    try {
      const request = { method: "POST", headers: this.headers, body: JSON.stringify(batch), keepalive: leaving };
      const reply = await fetch(`${BASE}views/`, request);
      if (reply.status >= 500 || reply.status === 429) this.waiting.unshift(...batch);
    } catch {
      this.waiting.unshift(...batch);
    } finally {
      this.sending = false;
    }
  }
}
