"""Every setting of the site, read from the environment with defaults for one machine."""

import secrets
from pathlib import Path
from typing import Any

import django_stubs_ext
from django.urls import reverse_lazy

from config import console, environment

django_stubs_ext.monkeypatch()

BASE_DIR = Path(__file__).resolve().parents[2]
VAR = Path(environment.text("TOUCHSTONE_VAR", str(BASE_DIR / "var"))).resolve()


def _secret_key() -> str:
    """Take SECRET_KEY, or make one on first start and keep it in var/secret_key (mode 600)."""
    path = VAR / "secret_key"
    if not path.exists():
        VAR.mkdir(parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(50))
    return path.read_text().strip()


SECRET_KEY = environment.text("SECRET_KEY", "") or _secret_key()
DEBUG = environment.flag("DEBUG")
ALLOWED_HOSTS = environment.names("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1],testserver")
CSRF_TRUSTED_ORIGINS = environment.names("CSRF_TRUSTED_ORIGINS")
PORT = environment.integer("PORT", 8000)

INSTALLED_APPS = [
    "unfold",
    "unfold.contrib.filters",
    "unfold.contrib.import_export",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "rest_framework",
    "django_filters",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "import_export",
    "channels",
    "config",
    "apps.access",
    "apps.work",
    "apps.metrics",
    "apps.answers",
    "apps.inference",
    "apps.segments",
]

# The request path of the caches skips the console's middleware: each one costs two thread hops under ASGI.
MIDDLEWARE = ["config.middleware.ByDoor"]
CONSOLE_MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "config.middleware.InTheViewersZone",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]
SILENCED_SYSTEM_CHECKS = [
    "admin.E408",
    "admin.E409",
    "admin.E410",
]  # they look for those in MIDDLEWARE itself

ROOT_URLCONF = "config.urls"
ASGI_APPLICATION = "config.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.debug",
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASES = {
    "default": {
        **environment.database(
            environment.text("DATABASE_URL", f"postgres://touchstone@/touchstone?host={VAR}/postgres-socket")
        ),
        "CONN_HEALTH_CHECKS": True,
    }
}
DATABASES["default"]["OPTIONS"]["pool"] = {
    "min_size": 1,
    "max_size": environment.integer("DATABASE_POOL", 20),
    "timeout": 5,
}
# Django forbids prepared statements unless told; only those are prepared that ask for it, whose plan does not depend on
# their values.
DATABASES["default"]["OPTIONS"]["prepare_threshold"] = 2**31
DATABASES["default"]["OPTIONS"]["options"] = (
    "-c plan_cache_mode=force_generic_plan -c hnsw.ef_search=40 -c hnsw.iterative_scan=strict_order"
)
VALKEY_URL = environment.text("VALKEY_URL", f"unix://{VAR}/valkey.sock")
# kombu spells a socket redis+socket://
CELERY_BROKER_URL = environment.text("CELERY_BROKER_URL", VALKEY_URL.replace("unix://", "redis+socket://", 1))

CHANNEL_LAYERS = {
    "default": {"BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer", "CONFIG": {"hosts": [VALKEY_URL]}}
}

AUTH_USER_MODEL = "access.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = reverse_lazy("admin:login")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
LANGUAGE_CODE = "en"
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
TIME_ZONE = "UTC"
USE_TZ = True

# Where people reach the console from mails and webhooks, and who sends the mails.
PUBLIC_URL = environment.text("PUBLIC_URL", "").rstrip("/")
EMAIL_HOST = environment.text("EMAIL_HOST", "")
EMAIL_PORT = environment.integer("EMAIL_PORT", 587)
EMAIL_HOST_USER = environment.text("EMAIL_USER", "")
EMAIL_HOST_PASSWORD = environment.text("EMAIL_PASSWORD", "")
EMAIL_USE_TLS = environment.flag("EMAIL_TLS", True)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = environment.text("EMAIL_FROM", "touchstone@localhost")

STATIC_URL = "static/"
STATIC_ROOT = VAR / "static"
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True  # a file that changed under a running server must not break its pages
MEDIA_ROOT = Path(environment.text("TOUCHSTONE_MEDIA", str(VAR / "media")))
SEGMENTS_EDGE_URL = environment.text("SEGMENTS_EDGE_URL", "")  # the edge that the player page uses first
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024 * 1024
SLIM_BODY_BYTES = environment.integer("SLIM_BODY_BYTES", 8 * 1024 * 1024)  # on the caches' request path

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.access.api.authentication.KeyAuthentication",
        "apps.access.api.authentication.ConsoleAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["apps.access.api.authentication.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_PAGINATION_CLASS": "apps.access.api.pages.Cursor",
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "apps.access.api.problems.problem",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,  # ?format= is ours: csv or jsonl
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Touchstone",
    "DESCRIPTION": "Three caches for AI work: answers, inference and video segments.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "ENUM_NAME_OVERRIDES": {
        "FeedbackVerdict": "apps.answers.models.Feedback.Verdict",
        "JudgeVerdict": "apps.answers.models.Verification.Verdict",
        "GoldenStatus": "apps.answers.models.GoldenAnswer.Status",
        "WorkStatus": "apps.work.models.Work.Status",
        "FrameOutcome": "apps.inference.models.Frame.Outcome",
        "EntryOrigin": "apps.answers.models.Entry.Origin",
        "VideoKind": "apps.segments.models.Video.Kind",
        "PredictorKind": "apps.segments.models.Predictor.Kind",
        "JobMode": "apps.inference.models.Job.Mode",
        "EdgeMode": ["active", "shadow", "fallback"],
        "ServedOrigin": ["golden", "generated", "client"],
        "GivenVerdict": ["", "APPROVE", "REJECT", "UNSURE"],
    },
}

METRICS_TOKEN = environment.text("METRICS_TOKEN", "")  # without one only this machine may scrape /metrics

# Answers: outside powers, all off or local on a fresh machine.
ANSWERS: dict[str, Any] = {
    "EMBEDDER": environment.text("ANSWERS_EMBEDDER", "minilm"),
    "EMBEDDER_URL": environment.text("ANSWERS_EMBEDDER_URL", ""),
    "EMBEDDER_KEY": environment.text("ANSWERS_EMBEDDER_KEY", ""),
    "EMBEDDER_MODEL": environment.text("ANSWERS_EMBEDDER_MODEL", ""),
    "UPSTREAM_URL": environment.text("ANSWERS_UPSTREAM_URL", ""),
    "UPSTREAM_KEY": environment.text("ANSWERS_UPSTREAM_KEY", ""),
    "UPSTREAM_MODEL": environment.text("ANSWERS_UPSTREAM_MODEL", ""),
    "UPSTREAM_TIMEOUT_S": environment.number("ANSWERS_UPSTREAM_TIMEOUT_S", 60),
    "JUDGE_URL": environment.text("ANSWERS_JUDGE_URL", ""),
    "JUDGE_KEY": environment.text("ANSWERS_JUDGE_KEY", ""),
    "JUDGE_MODEL": environment.text("ANSWERS_JUDGE_MODEL", ""),
    "JUDGE_TIMEOUT_S": environment.number("ANSWERS_JUDGE_TIMEOUT_S", 20),
}

# Inference: how much is taken and kept.
INFERENCE: dict[str, int] = {
    "VIDEO_BYTES": environment.integer("INFERENCE_VIDEO_BYTES", 4 * 1024**3),
    "MODEL_BYTES": environment.integer("INFERENCE_MODEL_BYTES", 512 * 1024**2),
    "PICTURES": environment.integer("INFERENCE_PICTURES", 5_000),  # frames of a job whose small picture is kept
    "STREAM_IDLE_S": environment.integer("INFERENCE_STREAM_IDLE_S", 300),
    "STREAMS": environment.integer("INFERENCE_STREAMS", 8),  # streams whose cache a worker holds at a time
    "STREAM_PATIENCE_S": environment.integer("INFERENCE_STREAM_PATIENCE_S", 60),
}

# Segments: limits, and the origins from which manifests of others may be read.
SEGMENTS: dict[str, Any] = {
    "VIDEO_BYTES": environment.integer("SEGMENTS_VIDEO_BYTES", 8 * 1024**3),
    "VIEW_DAYS": environment.integer("SEGMENTS_VIEW_DAYS", 90),
    "ORIGINS": environment.names("SEGMENTS_ORIGINS"),
    "LOOK": environment.flag("SEGMENTS_LOOK", True),  # describe segments by their pictures too
    "SPEECH": environment.text("SEGMENTS_SPEECH", ""),  # module:function that gives the cues of a file
}

UNFOLD = console.UNFOLD

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": environment.text("LOG_LEVEL", "INFO")},
    "loggers": {"httpx": {"level": "WARNING"}, "django.request": {"level": "ERROR"}},
}
