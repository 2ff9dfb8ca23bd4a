"""Look before changing anything: what a question would get, what nobody answers, what other thresholds would do."""

from apps.answers.services.exploring.coverage import Coverage, coverage
from apps.answers.services.exploring.thresholds import Explored, explore
from apps.answers.services.exploring.trying import Candidate, Trial, try_question
from apps.answers.services.exploring.unanswered import Cluster, unanswered

__all__ = ["Candidate", "Cluster", "Coverage", "Explored", "Trial", "coverage", "explore", "try_question", "unanswered"]
